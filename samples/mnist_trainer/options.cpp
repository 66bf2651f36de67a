#include "options.hpp"

#include <feedline/error.hpp>

#include <CLI/CLI.hpp>
#ifdef MNIST_HAS_MPI
#include <mpi.h>
#endif

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <map>
#include <string_view>

namespace mnist {
namespace {

const std::map<std::string, feedline::placement> placements{
    {"auto", feedline::placement::automatic},
    {"stream", feedline::placement::stream},
    {"gather", feedline::placement::gather},
    {"resident", feedline::placement::resident},
    {"cached", feedline::placement::cached}};

void add_options(CLI::App& app, trainer_options& options, std::string& placement) {
  // How the digits come to the network.
  app.add_option(
         "--data", options.data,
         "Folder with MNIST's four IDX files, plain or .gz; or with digits called train and "
         "test (.h5, .tar, folders of .npy); or the path of those to train on")
      ->type_name("PATH")
      ->required()
      ->check(CLI::ExistingPath);
  app.add_option("--batch-size", options.batch_size, "Digits in a batch, of all GPUs together")
      ->check(CLI::Range(1, 65536));
  app.add_option("--epochs", options.epochs,
                 "Passes over the training data, over which the learning rate falls")
      ->check(CLI::Range(1, 100000));
  auto* const readers = app.add_option(
      "--readers", options.readers,
      "Threads that read; 0: the training loop reads; -1: as many as suit the machine");
  readers->check(CLI::Range(-1, 1024));
  app.add_option("--placement", placement, "Where a GPU has its digits from")
      ->check(CLI::IsMember(placements));
  app.add_option("--cache", options.cache_mib, "MiB of the GPU's memory that digits may stay in")
      ->check(CLI::Range(std::size_t{0}, std::size_t{1} << 40));
  app.add_option("--seed", options.seed, "Of the order of the digits and of the initial weights");
  app.add_option(
      "--within-chunks", options.within_chunks,
      "Number of chunks of the data that are mixed at a time; 0: all digits with each other");
  app.add_flag(
         "!--no-prefetch", options.prefetch,
         "Read each batch when it is asked for, to compare with: no readers, one batch a copy")
      ->excludes(readers);

  // The devices: one, or several that share each batch.
  app.add_option("--device", options.device, "auto, cpu, or cuda:N")
      ->check([](const std::string& text) -> std::string {
        const std::string_view number = std::string_view{text}.substr(text.find(':') + 1);
        const bool is_numbered =
            text.starts_with("cuda:") && !number.empty() && number.size() <= 4 &&
            std::ranges::all_of(number, [](char each) { return each >= '0' && each <= '9'; });
        if (text == "auto" || text == "cpu" || text == "cuda" || is_numbered) return {};
        return "'" + text + "' is no device: say auto, cpu, or cuda:N with N from 0";
      });
  app.add_option("--gpus", options.gpus,
                 "GPUs that share each batch, each with a thread and a loader of its own. One "
                 "process a GPU is started by mpirun, torchrun or srun instead")
      ->check(CLI::Range(1, 1024));
  app.add_option("--ranks", options.ranks,
                 "With --device cpu: threads that share each batch as GPUs do, to try it")
      ->check(CLI::Range(1, 1024));
  app.add_flag("!--no-overlap", options.overlap,
               "Sum the gradients of several GPUs after the backward pass, to compare with; not "
               "each layer's while that of the layer before is computed");

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

void require_nccl(const facilities& machine) {
  if (!machine.nccl)
    throw usage_error{
        "several GPUs sum their gradients by NCCL, and this trainer was built without it: install "
        "libnccl-dev, or say where nccl.h and libnccl.so are (CMAKE_PREFIX_PATH), and build again"};
}

process_ranks one_of_many(const trainer_options& options, const feedline::shard& launched,
                          const facilities& machine) {
  const std::string self = told(launched);
  if (options.gpus > 1 || options.ranks > 1)
    throw usage_error{self +
                      ": a launcher started a process for each rank, so --gpus and --ranks "
                      "must be 1; leave them out"};
  if (options.device != "auto" && options.device != "cuda")
    throw usage_error{self + ": --device " + options.device +
                      " would be the same for all processes; leave it out, and each computes on "
                      "the GPU of its number. On the CPU, --ranks gives one process several"};
  if (machine.gpus == 0)
    throw usage_error{self + ": each process needs a GPU, and there is none that can be used" +
                      (machine.cuda ? "" : " (built without CUDA)") +
                      ". To try it on the CPU: one process with --device cpu --ranks " +
                      std::to_string(launched.world)};
  require_nccl(machine);
  // A launcher may show each process its own GPU alone, which then has number 0.
  const int gpu = machine.gpus == 1 ? 0 : machine.local_rank;
  if (gpu >= machine.gpus)
    throw usage_error{self + ": process " + std::to_string(gpu) + " of this machine, which has " +
                      gpus(machine.gpus) + "; start no more processes than GPUs"};
  return {{{launched, gpu}}, launched.world};
}

}  // namespace

trainer_options parse_command_line(int argc, char** argv) {
  CLI::App app{"Trains a small network to read digits, fed by feedline."};
  app.option_defaults()->always_capture_default();
  trainer_options options;
  std::string placement = "auto";
  add_options(app, options, placement);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    std::exit(app.exit(error) == 0 ? 0 : 2);
  }
  options.placement = placements.at(placement);
  return options;
}

process_ranks ranks_of_process(const trainer_options& options, const feedline::shard& launched,
                               const facilities& machine) {
  if (launched.world > 1) return one_of_many(options, launched, machine);
  const bool on_gpu =
      options.device == "auto" ? machine.gpus > 0 || options.gpus > 1 : options.device != "cpu";
  if (on_gpu && !machine.cuda)
    throw usage_error{"this trainer was built without CUDA: say --device cpu" +
                      (options.gpus > 1 ? " --ranks " + std::to_string(options.gpus) : "")};
  if (on_gpu && options.ranks > 1)
    throw usage_error{"--ranks is for the CPU: say --device cpu, or --gpus " +
                      std::to_string(options.ranks)};
  if (!on_gpu && options.gpus > 1)
    throw usage_error{"--gpus is not for --device cpu: say --ranks " +
                      std::to_string(options.gpus)};
  if (options.gpus > 1 && options.device.starts_with("cuda:"))
    throw usage_error{"--gpus " + std::to_string(options.gpus) +
                      " takes the GPUs from cuda:0 on: "
                      "leave out --device " +
                      options.device};
  if (options.gpus > 1 && options.gpus > machine.gpus)
    throw usage_error{"--gpus " + std::to_string(options.gpus) + ": this machine has " +
                      gpus(machine.gpus) + " that can be used"};
  if (options.gpus > 1) require_nccl(machine);

  const int world = on_gpu ? options.gpus : options.ranks;
  const bool numbered = options.device.starts_with("cuda:");
  process_ranks ranks{{}, world};
  for (int i = 0; i < world; ++i) {
    const int gpu = numbered ? std::stoi(options.device.substr(5)) : i;
    ranks.here.push_back({{.rank = i, .world = world}, on_gpu ? gpu : -1});
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
