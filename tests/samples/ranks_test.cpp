/// Tests which ranks the trainer's process has, for machines that need not exist.

#include <feedline/error.hpp>

#include "options.hpp"
#include "support/checks/catch.hpp"

#include <cstdlib>
#include <string>
#include <vector>

using namespace mnist;
using feedline::usage_error;

namespace {

constexpr facilities two_gpus{.gpus = 2, .cuda = true, .nccl = true};

std::vector<int> gpus_of(const process_ranks& ranks) {
  std::vector<int> found;
  for (const rank& each : ranks.here) found.push_back(each.gpu);
  return found;
}

trainer_options options(const std::string& device, int gpus, int ranks) {
  trainer_options made;
  made.device = device;
  made.gpus = gpus;
  made.ranks = ranks;
  return made;
}

feedline::shard by_mpirun(int rank, int world) {
  return {.rank = rank, .world = world, .launcher = "Open MPI"};
}

std::string refusal(const trainer_options& wanted, const feedline::shard& launched,
                    const facilities& machine) {
  try {
    static_cast<void>(ranks_of_process(wanted, launched, machine));
  } catch (const usage_error& error) {
    return error.what();
  }
  return "nothing was refused";
}

}  // namespace

TEST_CASE("trainer: one process has a rank for each of --gpus, in the order of devices",
          "[sample][host]") {
  const process_ranks ranks = ranks_of_process(options("auto", 2, 1), {}, two_gpus);
  CHECK(gpus_of(ranks) == std::vector<int>{0, 1});
  CHECK(ranks.world == 2);
  CHECK_FALSE(ranks.across_processes());
  CHECK(ranks.here[0].is_first());
  CHECK(ranks.here[1].share.rank == 1);
  CHECK(ranks.here[1].share.world == 2);
}

TEST_CASE("trainer: one rank computes where --device says", "[sample][host]") {
  CHECK(gpus_of(ranks_of_process(options("auto", 1, 1), {}, two_gpus)) == std::vector<int>{0});
  CHECK(gpus_of(ranks_of_process(options("auto", 1, 1), {}, {})) == std::vector<int>{-1});
  CHECK(gpus_of(ranks_of_process(options("cuda:1", 1, 1), {}, two_gpus)) == std::vector<int>{1});
  CHECK(gpus_of(ranks_of_process(options("cpu", 1, 3), {}, two_gpus)) ==
        std::vector<int>{-1, -1, -1});
}

TEST_CASE("trainer: a launched process is one rank, on the GPU of its number on the machine",
          "[sample][host]") {
  facilities second = two_gpus;
  second.local_rank = 1;
  const process_ranks ranks = ranks_of_process(options("auto", 1, 1), by_mpirun(5, 8), second);
  CHECK(gpus_of(ranks) == std::vector<int>{1});
  CHECK(ranks.world == 8);
  CHECK(ranks.across_processes());
  CHECK_FALSE(ranks.here[0].is_first());

  second.gpus = 1;  // the launcher shows each process its own alone
  CHECK(gpus_of(ranks_of_process(options("cuda", 1, 1), by_mpirun(5, 8), second)) ==
        std::vector<int>{0});
}

TEST_CASE("trainer: more GPUs than there are, or several without NCCL, are refused",
          "[sample][host]") {
  CHECK(refusal(options("auto", 3, 1), {}, two_gpus) ==
        "--gpus 3: this machine has 2 GPUs that can be used");
  facilities third = two_gpus;
  third.local_rank = 2;
  CHECK(refusal(options("auto", 1, 1), by_mpirun(2, 3), third) ==
        "rank 2 of 3 (Open MPI): process 2 of this machine, which has 2 GPUs; start no more "
        "processes than GPUs");
  CHECK(refusal(options("cuda:1", 2, 1), {}, two_gpus) ==
        "--gpus 2 takes the GPUs from cuda:0 on: leave out --device cuda:1");
  CHECK(refusal(options("cuda:1", 1, 1), by_mpirun(0, 2), two_gpus).find("leave it out") !=
        std::string::npos);

  facilities alone = two_gpus;
  alone.nccl = false;
  CHECK(gpus_of(ranks_of_process(options("auto", 1, 1), {}, alone)) == std::vector<int>{0});
  for (const std::string& words : {refusal(options("auto", 2, 1), {}, alone),
                                   refusal(options("auto", 1, 1), by_mpirun(0, 2), alone)})
    CHECK(words.find("this trainer was built without it: install libnccl-dev") !=
          std::string::npos);
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
