#include <feedline/error.hpp>
#include <feedline/sampler/shard.hpp>

#include "detail/log.hpp"
#include "sampler/shard_environment.hpp"

#include <system_error>

#include <array>
#include <charconv>
#include <cstdlib>
#include <string>
#include <string_view>

namespace feedline::detail {
namespace {

struct launcher {
  const char* name;
  const char* rank;
  const char* world;
  const char* program;  ///< the program that sets both
};

/// An inner launcher comes before those that may have started it: mpirun within a Slurm job,
/// torchrun within either.
constexpr std::array<launcher, 3> launchers{{
    {"torchrun", "RANK", "WORLD_SIZE", "torchrun"},
    {"Open MPI", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "mpirun"},
    {"Slurm", "SLURM_PROCID", "SLURM_NTASKS", "srun"},
}};

std::string remedy(const launcher& by) {
  return std::string{": start the program with "} + by.program + ", which sets both, or unset " +
         by.rank + " and " + by.world + ", or give rank and world by hand";
}

int number_in(const launcher& by, const char* name, std::string_view text) {
  int number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  if (read.ec == std::errc{} && read.ptr == text.data() + text.size()) return number;
  throw usage_error{"shard::from_environment: " + std::string{name} + " is '" + std::string{text} +
                    "', and must be a whole number below 2^31" + remedy(by)};
}

}  // namespace

void check_shard(const shard& given, const std::string& whose) {
  if (given.world < 1)
    throw usage_error{whose + " has a world of " + std::to_string(given.world) +
                      ": say how many processes there are, 1 or more"};
  if (given.rank < 0 || given.rank >= given.world)
    throw usage_error{whose + " has rank " + std::to_string(given.rank) + " in a world of " +
                      std::to_string(given.world) + ": the ranks are 0 to " +
                      std::to_string(given.world - 1)};
}

shard shard_of_environment(const std::function<const char*(const char* name)>& variable) {
  const auto text_of = [&](const char* name) {
    const char* const text = variable(name);
    return text == nullptr ? std::string{} : std::string{text};
  };
  for (const launcher& by : launchers) {
    const std::string rank = text_of(by.rank);
    const std::string world = text_of(by.world);
    if (rank.empty() && world.empty()) continue;
    if (rank.empty() || world.empty())
      throw usage_error{
          "shard::from_environment: " + std::string{rank.empty() ? by.world : by.rank} + " is '" +
          rank + world + "', but " + (rank.empty() ? by.rank : by.world) + " is not set" +
          remedy(by)};
    const shard found{number_in(by, by.rank, rank), number_in(by, by.world, world), by.name};
    check_shard(found, std::string{"shard::from_environment: "} + by.name + " (" + by.rank + ", " +
                           by.world + ")");
    log()->debug("shard: rank {} of {}, as {} says ({}, {})", found.rank, found.world, by.name,
                 by.rank, by.world);
    return found;
  }
  return {};
}

}  // namespace feedline::detail

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

shard shard::from_environment() {
  return detail::shard_of_environment([](const char* name) { return std::getenv(name); });
}

std::uint64_t shard::batch_share(std::uint64_t global_batch) const {
  detail::check_shard(*this, "shard::batch_share");
  const auto ranks = static_cast<std::uint64_t>(world);
  if (global_batch != 0 && global_batch % ranks == 0) return global_batch / ranks;
  throw usage_error{"shard::batch_share: a global batch of " + std::to_string(global_batch) +
                    " samples cannot be cut into " + std::to_string(ranks) +
                    " equal parts, one for each rank: choose a multiple of " +
                    std::to_string(ranks)};
}

}  // namespace FEEDLINE_ABI
}  // namespace feedline
