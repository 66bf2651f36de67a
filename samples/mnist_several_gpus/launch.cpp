#include "launch.hpp"

#include <feedline/error.hpp>

#include <CLI/CLI.hpp>
#ifdef MNIST_HAS_MPI
#include <mpi.h>
#endif

#include <charconv>
#include <cstdlib>

namespace mnist {
namespace {

using feedline::usage_error;

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

/// A whole number, or -1.
int number_in(const std::string& text) {
  int number = -1;
  const char* const end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, number);
  return error == std::errc{} && stopped == end && number >= 0 ? number : -1;
}

std::string told(const feedline::shard& launched) {
  return "rank " + std::to_string(launched.rank) + " of " + std::to_string(launched.world) + " (" +
         std::string{launched.launcher} + ")";
}

std::string gpus(int count) {
  return std::to_string(count) + (count == 1 ? " GPU" : " GPUs");
}

constexpr auto without =
    "this trainer was built without CUDA or without NCCL, by which GPUs sum their gradients: "
    "install libnccl-dev, or say where nccl.h and libnccl.so are (CMAKE_PREFIX_PATH), and build "
    "again; or say --device cpu";

process_ranks one_of_many(const trainer_options& options, const several_options& several,
                          const feedline::shard& launched, const facilities& machine) {
  const std::string self = told(launched);
  if (several.gpus > 1)
    throw usage_error{self +
                      ": a launcher started a process for each rank, so --gpus must be 1; leave it "
                      "out"};
  if (options.device != "auto" && options.device != "cuda")
    throw usage_error{self + ": --device " + options.device +
                      " would be the same for all processes; leave it out, and each computes on "
                      "the GPU of its number. On the CPU, --ranks gives one process several"};
  if (!machine.cuda) throw usage_error{self + ": " + without};
  if (machine.gpus == 0)
    throw usage_error{self +
                      ": each process needs a GPU, and there is none that can be used. To try it "
                      "on the CPU: one process with --device cpu --ranks " +
                      std::to_string(launched.world)};
  // A launcher may show each process its own GPU alone, which then has number 0.
  const int gpu = machine.gpus == 1 ? 0 : machine.local_rank;
  if (gpu >= machine.gpus)
    throw usage_error{self + ": process " + std::to_string(gpu) + " of this machine, which has " +
                      gpus(machine.gpus) + "; start no more processes than GPUs"};
  return {{{launched, gpu}}, launched.world};
}

}  // namespace

void add_options(CLI::App& app, several_options& options) {
  app.add_option("--gpus,--ranks", options.gpus,
                 "GPUs that share each batch, each with a thread and a loader of its own; with "
                 "--device cpu, threads. Instead of this, mpirun, torchrun or srun "
                 "start one process a GPU")
      ->check(CLI::Range(1, 1024));

  // Files to write, from which a run continues or by which runs are compared.
  auto* const checkpoint =
      app.add_option("--checkpoint", options.checkpoint,
                     "File for weights, velocities and the position in the data; written at the "
                     "end of each epoch")
          ->type_name("FILE");
  app.add_option("--every", options.every,
                 "Batches between two checkpoints; 0: they are at the end of epochs only")
      ->check(CLI::NonNegativeNumber)
      ->needs(checkpoint);
  app.add_flag("--resume", options.resume,
               "Continue from the checkpoint, if there is one; also on another number of GPUs")
      ->needs(checkpoint);
  app.add_option("--losses", options.losses, "File for a line a batch: epoch, batch, mean loss")
      ->type_name("FILE");
  app.add_option(
         "--checksums", options.checksums,
         "File for a line a batch: epoch, batch, checksum of it as the network has it, over "
         "all GPUs. Costs time")
      ->type_name("FILE");
}

process_ranks ranks_of_process(const trainer_options& options, const several_options& several,
                               const feedline::shard& launched, const facilities& machine) {
  if (launched.world > 1) return one_of_many(options, several, launched, machine);
  const bool on_gpu =
      options.device == "auto" ? machine.gpus > 0 || several.gpus > 1 : options.device != "cpu";
  if (on_gpu && !machine.cuda) throw usage_error{without};
  const std::string asked = "--gpus " + std::to_string(several.gpus);
  if (several.gpus > 1 && options.device.starts_with("cuda:"))
    throw usage_error{asked + " takes the GPUs from cuda:0 on: leave out --device " +
                      options.device};
  if (on_gpu && several.gpus > 1 && several.gpus > machine.gpus)
    throw usage_error{asked + ": this machine has " + gpus(machine.gpus) +
                      " that can be used; --device cpu trains by threads"};

  process_ranks ranks{{}, several.gpus};
  for (int i = 0; i < several.gpus; ++i) {
    const int gpu = several.gpus > 1 ? i : gpu_number(options.device);
    ranks.here.push_back({{.rank = i, .world = several.gpus}, on_gpu ? gpu : -1});
  }
  return ranks;
}

int local_rank_from_environment(const feedline::shard& launched) {
  if (launched.world == 1) return 0;
  const char* const name = launched.launcher == "torchrun"   ? "LOCAL_RANK"
                           : launched.launcher == "Open MPI" ? "OMPI_COMM_WORLD_LOCAL_RANK"
                                                             : "SLURM_LOCALID";
  const int local = number_in(variable(name));
  if (local < 0)
    throw usage_error{told(launched) + ": " + name + " is '" + variable(name) +
                      "', where the number of this process on its machine is wanted"};
  return local;
}

std::string meeting_address_from_environment() {
  if (!variable("NCCL_COMM_ID").empty()) return variable("NCCL_COMM_ID");
  const std::string host = variable("MASTER_ADDR");
  const std::string port = variable("MASTER_PORT");
  if (host.empty() || port.empty()) return {};
  const int number = number_in(port);
  if (number < 1 || number > 65534)
    throw usage_error{"MASTER_PORT is '" + port + "', where a port from 1 to 65534 is wanted"};
  return host + ":" + std::to_string(number + 1);
}

void broadcast_by_mpi([[maybe_unused]] std::span<char> bytes, [[maybe_unused]] int world) {
#ifdef MNIST_HAS_MPI
  // Faults of MPI end the process with its own words.
  MPI_Init(nullptr, nullptr);
  int found = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &found);
  if (found == world)
    MPI_Bcast(bytes.data(), static_cast<int>(bytes.size()), MPI_CHAR, 0, MPI_COMM_WORLD);
  MPI_Finalize();  // from here on NCCL connects the processes
  if (found != world)
    throw feedline::usage_error{"MPI knows " + std::to_string(found) + " processes, the launcher " +
                                std::to_string(world) +
                                ": start the trainer with the mpirun of the MPI it was built with"};
#else
  throw feedline::usage_error{
      "the processes cannot find each other, for this trainer was built without MPI: set "
      "NCCL_COMM_ID=HOST:PORT alike for all, a free port of rank 0's machine; or install "
      "libopenmpi-dev and build again; or start them by torchrun"};
#endif
}

}  // namespace mnist
