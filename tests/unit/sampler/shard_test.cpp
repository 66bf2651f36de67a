#include <feedline/error.hpp>
#include <feedline/sampler/shard.hpp>

#include "sampler/shard_environment.hpp"
#include "support/checks/catch.hpp"
#include "support/checks/log_capture.hpp"
#include "support/checks/message_of.hpp"

#include <cstdlib>
#include <map>
#include <string>
#include <utility>

using namespace feedline;

namespace {

using variables = std::map<std::string, std::string>;

shard shard_in(const variables& set) {
  return detail::shard_of_environment([&](const std::string& name) {
    const auto found = set.find(name);
    return found == set.end() ? nullptr : found->second.c_str();
  });
}

std::string refusal(const variables& set) {
  return test::message_of<usage_error>([&] { (void)shard_in(set); });
}

const variables torchrun{{"RANK", "3"}, {"WORLD_SIZE", "8"}};
const variables open_mpi{{"OMPI_COMM_WORLD_RANK", "1"}, {"OMPI_COMM_WORLD_SIZE", "2"}};
const variables slurm{{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "4"}};

variables all_of(variables some, const variables& others) {
  some.insert(others.begin(), others.end());
  return some;
}

}  // namespace

TEST_CASE("shard: rank and world are taken from torchrun, Open MPI or Slurm, inner launchers first",
          "[sampler][host]") {
  struct example {
    variables set;
    int rank, world;
    std::string launcher;
  };
  const auto [set, rank, world, launcher] = GENERATE(values<example>({
      {{}, 0, 1, ""},
      {{{"LOCAL_RANK", "1"}, {"SLURM_JOB_ID", "7"}, {"RANK", ""}}, 0, 1, ""},
      {torchrun, 3, 8, "torchrun"},
      {open_mpi, 1, 2, "Open MPI"},
      {slurm, 0, 4, "Slurm"},
      {all_of(open_mpi, slurm), 1, 2, "Open MPI"},  // mpirun within a job of Slurm's
      {all_of(torchrun, slurm), 3, 8, "torchrun"},  // srun torchrun: a task for each node
      {all_of(torchrun, all_of(open_mpi, slurm)), 3, 8, "torchrun"},
      {all_of(slurm, {{"RANK", ""}, {"WORLD_SIZE", ""}}), 0, 4, "Slurm"},
      {{{"RANK", "2147483646"}, {"WORLD_SIZE", "2147483647"}}, 2147483646, 2147483647, "torchrun"},
  }));
  const test::log_capture log{spdlog::level::debug};
  const shard found = shard_in(set);
  CHECK(found.rank == rank);
  CHECK(found.world == world);
  CHECK(found.launcher == launcher);
  CHECK(log.text().empty() == launcher.empty());
}

TEST_CASE("shard: the log says which launcher's variables were taken", "[sampler][host]") {
  const test::log_capture log{spdlog::level::debug};
  (void)shard_in(all_of(open_mpi, slurm));
  CHECK(log.text().find("shard: rank 1 of 2, as Open MPI says (OMPI_COMM_WORLD_RANK, "
                        "OMPI_COMM_WORLD_SIZE)") != std::string::npos);
}

TEST_CASE("shard: variables that do not tell rank and world are refused, with the remedy",
          "[sampler][host]") {
  const auto [set, message] = GENERATE(values<std::pair<variables, std::string>>({
      {{{"RANK", "3"}},
       "shard::from_environment: RANK is '3', but WORLD_SIZE is not set: start the program with "
       "torchrun, which sets both, or unset RANK and WORLD_SIZE, or give rank and world by hand"},
      {all_of(slurm, {{"WORLD_SIZE", "8"}}),  // and no other launcher is asked
       "shard::from_environment: WORLD_SIZE is '8', but RANK is not set: start the program with "
       "torchrun, which sets both, or unset RANK and WORLD_SIZE, or give rank and world by hand"},
      {{{"SLURM_NTASKS", "4"}},  // a shell of salloc's
       "shard::from_environment: SLURM_NTASKS is '4', but SLURM_PROCID is not set: start the "
       "program with srun, which sets both, or unset SLURM_PROCID and SLURM_NTASKS, or give rank "
       "and world by hand"},
      {{{"OMPI_COMM_WORLD_RANK", "one"}, {"OMPI_COMM_WORLD_SIZE", "2"}},
       "shard::from_environment: OMPI_COMM_WORLD_RANK is 'one', and must be a whole number below "
       "2^31: start the program with mpirun, which sets both, or unset OMPI_COMM_WORLD_RANK and "
       "OMPI_COMM_WORLD_SIZE, or give rank and world by hand"},
      {{{"RANK", "4"}, {"WORLD_SIZE", "4"}},
       "shard::from_environment: torchrun (RANK, WORLD_SIZE) has rank 4 in a world of 4: the ranks "
       "are 0 to 3"},
      {{{"RANK", "-1"}, {"WORLD_SIZE", "4"}},
       "shard::from_environment: torchrun (RANK, WORLD_SIZE) has rank -1 in a world of 4: the "
       "ranks "
       "are 0 to 3"},
      {{{"RANK", "0"}, {"WORLD_SIZE", "0"}},
       "shard::from_environment: torchrun (RANK, WORLD_SIZE) has a world of 0: say how many "
       "processes there are, 1 or more"},
  }));
  CHECK(refusal(set) == message);
}

TEST_CASE("shard: text that is no whole number in the environment is refused", "[sampler][host]") {
  const std::string text = GENERATE(as<std::string>{}, "2x", " 2", "2 ", "+2", "0x2", "2.0", "1e3",
                                    "2147483648", "99999999999999999999");
  CHECK(refusal({{"RANK", "0"}, {"WORLD_SIZE", text}}).find("WORLD_SIZE is '" + text + "', and") !=
        std::string::npos);
}

TEST_CASE("shard: from_environment reads the process's own environment", "[sampler][host]") {
  for (const char* name : {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "SLURM_PROCID",
                           "SLURM_NTASKS", "RANK", "WORLD_SIZE"})
    ::unsetenv(name);
  CHECK(shard::from_environment().world == 1);
  const test::log_capture unheard;
  ::setenv("RANK", "1", 1);
  ::setenv("WORLD_SIZE", "3", 1);
  const shard found = shard::from_environment();
  ::unsetenv("RANK");
  ::unsetenv("WORLD_SIZE");
  CHECK(found.rank == 1);
  CHECK(found.world == 3);
}

TEST_CASE("shard: a global batch is cut into equal parts, or refused", "[sampler][host]") {
  CHECK(shard{}.batch_share(100) == 100);
  CHECK(shard{.rank = 3, .world = 4}.batch_share(256) == 64);
  const auto refused = [](const shard& one, std::uint64_t batch) {
    return test::message_of<usage_error>([&] { (void)one.batch_share(batch); });
  };
  CHECK(refused({.rank = 0, .world = 64}, 100) ==
        "shard::batch_share: a global batch of 100 samples cannot be cut into 64 equal parts, one "
        "for each rank: choose a multiple of 64");
  CHECK(refused({}, 0) ==
        "shard::batch_share: a global batch of 0 samples cannot be cut into 1 equal parts, one "
        "for each rank: choose a multiple of 1");
  CHECK(refused({.rank = 0, .world = 0}, 100) ==
        "shard::batch_share has a world of 0: say how many processes there are, 1 or more");
}
