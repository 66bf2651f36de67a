// Trains mnist_trainer's network on several GPUs, which share each batch and sum their gradients by
// NCCL; on one GPU or the CPU too. A training that was killed continues, also on another number of
// GPUs. docs/guide/several-processes.md says more.
//
// Run:    mnist_several_gpus --data data/digits --gpus 2             one process, a thread a GPU
//         mpirun -np 2 mnist_several_gpus --data data/digits         or torchrun, or srun
//         mnist_several_gpus --data data/digits --device cpu --ranks 2
// Expect: the lines of mnist_trainer, with ranks=2

#include <feedline/feedline.hpp>

#include "cpu_rank.hpp"
#include "launch.hpp"
#include "rank_training.hpp"
#ifdef MNIST_HAS_NCCL
#include "gpu_rank.cuh"
#endif

#include <cstdlib>
#include <thread>
#include <vector>

namespace {

constexpr const char* program = "mnist_several_gpus";

mnist::facilities this_machine(const feedline::shard& launched) {
  mnist::facilities machine{.local_rank = mnist::local_rank_from_environment(launched)};
#ifdef MNIST_HAS_NCCL
  machine.gpus = feedline::cuda_device_count();
  machine.cuda = true;
#endif
  return machine;
}

template <class Device>
void train(const mnist::trainer_options& options, const mnist::several_options& several,
           const mnist::process_ranks& ranks) {
  typename Device::team team{ranks};
  const auto train_one = [&](const mnist::rank& self) {
    Device on{self};
    mnist::rank_training<Device> one{options, several, on};
    if (ranks.world > 1) one.join(team);
    one.run();
  };
  if (ranks.world == 1) return train_one(ranks.here.front());

  std::vector<std::thread> threads;
  for (const mnist::rank& self : ranks.here)
    threads.emplace_back([&] {
      // The others wait for this one's gradients: if it fails, the process ends. A launcher ends
      // the other processes then.
      const int code = mnist::report_errors(program, [&] { train_one(self); });
      if (code != 0) std::_Exit(code);
    });
  for (std::thread& thread : threads) thread.join();
}

void run(const mnist::trainer_options& options, const mnist::several_options& several) {
  // CUDA loads a kernel when it is first called, and may have to wait for others then: for a sum
  // that itself waits for a rank of this process. So all kernels are loaded first.
  if (several.gpus > 1) setenv("CUDA_MODULE_LOADING", "EAGER", 0);
  const auto launched = feedline::shard::from_environment();
  const auto ranks = mnist::ranks_of_process(options, several, launched, this_machine(launched));
  if (ranks.here.front().is_first()) mnist::require_place_for_checkpoint(several.checkpoint);
#ifdef MNIST_HAS_NCCL
  if (ranks.here.front().gpu >= 0) return train<mnist::gpu_rank>(options, several, ranks);
#endif
  train<mnist::cpu_rank>(options, several, ranks);
}

}  // namespace

int main(int argc, char** argv) {
  mnist::several_options several;
  const mnist::trainer_options options = mnist::parse_command_line(
      argc, argv, [&](CLI::App& app) { mnist::add_options(app, several); });
  return mnist::report_errors(program, [&] { run(options, several); });
}
