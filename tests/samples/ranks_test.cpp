/// Tests which ranks the trainer's process has, for machines that need not exist.

#include <feedline/error.hpp>

#include "launch.hpp"
#include "support/checks/catch.hpp"

#include <cstdlib>
#include <string>
#include <vector>

using namespace mnist;
using feedline::usage_error;

namespace {

constexpr facilities two_gpus{.gpus = 2, .cuda = true};

std::vector<int> gpus_of(const process_ranks& ranks) {
  std::vector<int> found;
  for (const rank& each : ranks.here) found.push_back(each.gpu);
  return found;
}

struct options {
  std::string device;
  int gpus;
};

process_ranks ranks_with(const options& wanted, const feedline::shard& launched,
                         const facilities& machine) {
  trainer_options shared;
  shared.device = wanted.device;
  several_options several;
  several.gpus = wanted.gpus;
  return ranks_of_process(shared, several, launched, machine);
}

feedline::shard by_mpirun(int rank, int world) {
  return {.rank = rank, .world = world, .launcher = "Open MPI"};
}

std::string refusal(const options& wanted, const feedline::shard& launched,
                    const facilities& machine) {
  try {
    static_cast<void>(ranks_with(wanted, launched, machine));
  } catch (const usage_error& error) {
    return error.what();
  }
  return "nothing was refused";
}

}  // namespace

TEST_CASE("trainer: one process has a rank for each of --gpus, in the order of devices",
          "[sample][host]") {
  const process_ranks ranks = ranks_with({"auto", 2}, {}, two_gpus);
  CHECK(gpus_of(ranks) == std::vector<int>{0, 1});
  CHECK(ranks.world == 2);
  CHECK_FALSE(ranks.across_processes());
  CHECK(ranks.here[0].is_first());
  CHECK(ranks.here[1].share.rank == 1);
  CHECK(ranks.here[1].share.world == 2);
}

TEST_CASE("trainer: one rank computes where --device says", "[sample][host]") {
  CHECK(gpus_of(ranks_with({"auto", 1}, {}, two_gpus)) == std::vector<int>{0});
  CHECK(gpus_of(ranks_with({"auto", 1}, {}, {})) == std::vector<int>{-1});
  CHECK(gpus_of(ranks_with({"cuda:1", 1}, {}, two_gpus)) == std::vector<int>{1});
  CHECK(gpus_of(ranks_with({"cpu", 3}, {}, two_gpus)) == std::vector<int>{-1, -1, -1});
}

TEST_CASE("trainer: a launched process is one rank, on the GPU of its number on the machine",
          "[sample][host]") {
  facilities second = two_gpus;
  second.local_rank = 1;
  const process_ranks ranks = ranks_with({"auto", 1}, by_mpirun(5, 8), second);
  CHECK(gpus_of(ranks) == std::vector<int>{1});
  CHECK(ranks.world == 8);
  CHECK(ranks.across_processes());
  CHECK_FALSE(ranks.here[0].is_first());

  second.gpus = 1;  // the launcher shows each process its own alone
  CHECK(gpus_of(ranks_with({"cuda", 1}, by_mpirun(5, 8), second)) == std::vector<int>{0});
}

TEST_CASE("trainer: more GPUs than there are, or several without NCCL, are refused",
          "[sample][host]") {
  CHECK(refusal({"auto", 3}, {}, two_gpus) ==
        "--gpus 3: this machine has 2 GPUs that can be used; --device cpu trains by threads");
  facilities third = two_gpus;
  third.local_rank = 2;
  CHECK(refusal({"auto", 1}, by_mpirun(2, 3), third) ==
        "rank 2 of 3 (Open MPI): process 2 of this machine, which has 2 GPUs; start no more "
        "processes than GPUs");
  CHECK(refusal({"cuda:1", 2}, {}, two_gpus) ==
        "--gpus 2 takes the GPUs from cuda:0 on: leave out --device cuda:1");
  CHECK(refusal({"cuda:1", 1}, by_mpirun(0, 2), two_gpus).find("leave it out") !=
        std::string::npos);

  for (const std::string& words :
       {refusal({"auto", 2}, {}, {}), refusal({"auto", 1}, by_mpirun(0, 2), {})})
    CHECK(words.find("this trainer was built without CUDA or without NCCL, by which GPUs sum their "
                     "gradients: install libnccl-dev") != std::string::npos);
}

TEST_CASE(
    "trainer: processes meet at the address in NCCL_COMM_ID, or one port after torchrun's own",
    "[sample][host]") {
  for (const char* const name : {"NCCL_COMM_ID", "MASTER_ADDR", "MASTER_PORT"}) ::unsetenv(name);
  CHECK(meeting_address_from_environment().empty());
  ::setenv("MASTER_ADDR", "node7", 1);
  CHECK(meeting_address_from_environment().empty());
  ::setenv("MASTER_PORT", "29500", 1);
  CHECK(meeting_address_from_environment() == "node7:29501");
  ::setenv("MASTER_PORT", "65535", 1);
  CHECK_THROWS_AS(meeting_address_from_environment(), usage_error);
  ::setenv("NCCL_COMM_ID", "10.0.0.1:4000", 1);
  CHECK(meeting_address_from_environment() == "10.0.0.1:4000");
  for (const char* const name : {"NCCL_COMM_ID", "MASTER_ADDR", "MASTER_PORT"}) ::unsetenv(name);
}
