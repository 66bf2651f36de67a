#pragma once

#include <feedline/export.hpp>

#include <cstdint>
#include <string_view>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// Which part of each global batch a process takes: for `loader_options::shard`.
///
///     const auto self = feedline::shard::from_environment();
///     feedline::loader loader{train, feedline::shuffle{.seed = 42}, gpu,
///                             {.batch_size = self.batch_share(256), .shard = self}};
///
/// A global batch is `world × batch_size` samples that stand one behind the other in the epoch's
/// order; rank r takes those from `r × batch_size` on. So batch g of all ranks together holds the
/// same samples, in the same order, for every world that divides the global batch. All ranks get
/// equally many batches, of equal sizes; `partial_batch` says how the epoch ends. It is arithmetic:
/// ranks do not talk to each other, so each must be given the same dataset, sampler and options.
struct shard {
  int rank = 0;                    ///< of this process: 0 to `world` - 1
  int world = 1;                   ///< how many processes share the epoch; 1: this one has it all
  std::string_view launcher = {};  ///< whose variables `from_environment` took: "torchrun", "Open
                                   ///< MPI" or "Slurm"; empty: nobody's. Not looked at by loaders

  /// What the launcher of this process says; rank 0 of 1 if there is none. Looked for in this
  /// order, for an inner launcher knows better than the one that started it:
  ///
  ///     torchrun   RANK                   WORLD_SIZE
  ///     Open MPI   OMPI_COMM_WORLD_RANK   OMPI_COMM_WORLD_SIZE
  ///     Slurm      SLURM_PROCID           SLURM_NTASKS
  ///
  /// The first of which a variable is set is taken, and told to the log (debug). An empty variable
  /// counts as one that is not set. Reads the environment: no other thread may change it meanwhile.
  /// @throws usage_error if one variable of the pair is missing, one is no number, or the rank is
  /// not in the world.
  [[nodiscard]] static shard from_environment();

  /// The `loader_options::batch_size` that makes global batches of so many samples.
  /// @throws usage_error if the world does not divide them, they are 0, or the rank is not in the
  /// world.
  [[nodiscard]] std::uint64_t batch_share(std::uint64_t global_batch) const;
};

}  // namespace FEEDLINE_ABI
}  // namespace feedline
