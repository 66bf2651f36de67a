#pragma once

#include <feedline/sampler/shard.hpp>

#include "options.hpp"

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace mnist {

/// Options that mnist_trainer does not have.
struct several_options {
  int gpus = 1;  ///< or, with --device cpu, threads instead

  std::filesystem::path checkpoint;  ///< empty: none
  std::uint64_t every = 0;  ///< batches between two checkpoints; 0: at the end of epochs only
  bool resume = false;
  std::filesystem::path losses;     ///< empty: none
  std::filesystem::path checksums;  ///< empty: none
};

void add_options(CLI::App& app, several_options& options);

/// One of the ranks that share every batch. Each has its own thread, loader and network.
struct rank {
  feedline::shard share;  ///< rank and world
  int gpu = -1;           ///< GPU that it computes on; -1: the CPU
  /// Only the first rank prints, and writes files.
  bool is_first() const { return share.rank == 0; }
};

/// The ranks of this process: all, or one where a launcher started a process for each.
struct process_ranks {
  std::vector<rank> here;
  int world = 1;
  bool across_processes() const { return static_cast<int>(here.size()) < world; }
};

/// Properties of this machine and this build that decide where ranks can run.
struct facilities {
  int gpus = 0;        ///< 0: none, or built without CUDA and NCCL
  bool cuda = false;   ///< built with both
  int local_rank = 0;  ///< number of this process among those of its launcher on this machine
};

/// @throws feedline::usage_error if the machine cannot do what the command line and the launcher
/// ask for.
[[nodiscard]] process_ranks ranks_of_process(const trainer_options& options,
                                             const several_options& several,
                                             const feedline::shard& launched,
                                             const facilities& machine);

/// The local rank that the launcher of this process states; 0 if there is none.
/// @throws feedline::usage_error if the launcher does not state it, or it is not a number.
[[nodiscard]] int local_rank_from_environment(const feedline::shard& launched);

/// The address where processes meet by NCCL, "HOST:PORT": NCCL_COMM_ID, or the port after that of
/// torchrun. Empty: there is none, and the processes meet by MPI.
/// @throws feedline::usage_error if MASTER_PORT is not a port.
[[nodiscard]] std::string meeting_address_from_environment();

/// Sends rank 0's bytes to all `world` processes that `mpirun` or `srun` started. Call it once.
/// @throws feedline::usage_error if the trainer was built without MPI, or with another one.
void broadcast_by_mpi(std::span<char> bytes, int world);

}  // namespace mnist
