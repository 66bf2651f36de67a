#include "ranks.hpp"

#include <feedline/error.hpp>

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

}  // namespace mnist
