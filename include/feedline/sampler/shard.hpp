#pragma once

#include <feedline/export.hpp>

#include <cstdint>
#include <string_view>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// The part of each global batch that a process takes, for `loader_options::shard`.
///
///     const auto self = feedline::shard::from_environment();
///     feedline::loader loader{train, feedline::shuffle{.seed = 42}, gpu,
///                             {.batch_size = self.batch_share(256), .shard = self}};
///
/// A global batch is `world × batch_size` consecutive samples of the epoch's order. Rank r takes
/// `batch_size` of them, from `r × batch_size` on. So batch g of all ranks together has the same
/// samples, in the same order, for every world that divides the global batch. All ranks get the
/// same number of batches, of equal sizes; `partial_batch` defines the epoch's end. Ranks do not
/// communicate, so give each the same dataset, sampler and options.
struct shard {
  int rank = 0;   ///< rank of this process: 0 to `world` - 1
  int world = 1;  ///< number of processes that share the epoch; 1: no sharing
  /// Launcher whose variables `from_environment` used: "torchrun", "Open MPI" or "Slurm"; empty:
  /// none. Loaders ignore it.
  std::string_view launcher = {};

  /// The shard given by the launcher of this process; rank 0 of 1 if there is no launcher.
  /// Variables are searched in this order, because an inner launcher is more specific than the
  /// one that started it:
  ///
  ///     torchrun   RANK                   WORLD_SIZE
  ///     Open MPI   OMPI_COMM_WORLD_RANK   OMPI_COMM_WORLD_SIZE
  ///     Slurm      SLURM_PROCID           SLURM_NTASKS
  ///
  /// The first launcher with a variable that is set is used, and logged (debug). An empty variable
  /// counts as not set. This reads the environment, so no other thread may change it meanwhile.
  /// @throws usage_error if one variable of the pair is missing, one is not a number, or the rank
  /// is not in the world.
  [[nodiscard]] static shard from_environment();

  /// The `loader_options::batch_size` for global batches of this size.
  /// @throws usage_error if the world does not divide the size, it is 0, or the rank is not in the
  /// world.
  [[nodiscard]] std::uint64_t batch_share(std::uint64_t global_batch) const;
};

}  // namespace FEEDLINE_ABI
}  // namespace feedline
