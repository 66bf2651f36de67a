#pragma once

#include <feedline/loader/loader_options.hpp>
#include <feedline/sampler/shard.hpp>

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace mnist {

/// Options of the command line.
struct trainer_options {
  std::filesystem::path data;
  std::string device = "auto";     ///< or "cpu", "cuda", "cuda:N"
  std::uint64_t batch_size = 128;  ///< for all ranks together
  std::uint64_t epochs = 5;
  int readers = feedline::automatic_readers;
  feedline::placement placement = feedline::placement::automatic;
  std::size_t cache_mib = 0;
  std::uint64_t seed = 1;
  std::uint64_t within_chunks = 0;
  bool prefetch = true;

  int gpus = 1;
  int ranks = 1;
  bool overlap = true;

  std::filesystem::path checkpoint;  ///< empty: none
  std::uint64_t every = 0;  ///< batches between two checkpoints; 0: at the end of epochs only
  bool resume = false;
  std::filesystem::path losses;     ///< empty: none
  std::filesystem::path checksums;  ///< empty: none
};

/// Reads the command line. If it asks for help, or is wrong, ends the program with 0 or 2.
[[nodiscard]] trainer_options parse_command_line(int argc, char** argv);

/// One of the ranks that share every batch. Each has its own thread, loader and network.
struct rank {
  feedline::shard share;  ///< rank and world
  int gpu = -1;           ///< GPU that it computes on; -1: the CPU
  /// Only the first rank prints, and writes files.
  bool is_first() const { return share.rank == 0; }
};

/// The ranks of this process: all of them, or one where a launcher started a process for each.
struct process_ranks {
  std::vector<rank> here;
  int world = 1;
  bool across_processes() const { return static_cast<int>(here.size()) < world; }
};

/// Properties of this machine and this build that decide where ranks can run.
struct facilities {
  int gpus = 0;        ///< 0: none, or built without CUDA
  bool cuda = false;   ///< built with it
  bool nccl = false;   ///< built with it
  int local_rank = 0;  ///< number of this process among those of its launcher on this machine
};

/// @throws feedline::usage_error if the machine cannot do what the command line and the launcher
/// ask for.
[[nodiscard]] process_ranks ranks_of_process(const trainer_options& options,
                                             const feedline::shard& launched,
                                             const facilities& machine);

/// The local rank that the launcher of this process states; 0 if there is none.
/// @throws feedline::usage_error if the launcher does not state it, or it is not a number.
[[nodiscard]] int local_rank_from_environment(const feedline::shard& launched);

/// The address at which processes meet, "HOST:PORT", if the environment has one for NCCL:
/// NCCL_COMM_ID, or the port after the one that torchrun keeps for itself. Empty: the processes
/// meet by MPI.
/// @throws feedline::usage_error if MASTER_PORT is not a port.
[[nodiscard]] std::string meeting_address_from_environment();

/// Sends rank 0's bytes to all `world` processes that `mpirun` or `srun` started. Call it once.
/// @throws feedline::usage_error if the trainer was built without MPI, or with another one.
void broadcast_by_mpi(std::span<char> bytes, int world);

}  // namespace mnist
