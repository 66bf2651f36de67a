// Trains a small network to read digits, on the CPU or on one or more GPUs, fed by feedline: the
// program to look at for how a training loop uses it, and to measure how long that loop waits for
// its data.
//
// Build:  cmake --preset release
//         cmake --build --preset release --target mnist_trainer make_digits
// Run:    build/release/data/make_digits data/digits
//         build/release/samples/mnist_trainer/mnist_trainer --data data/digits
//         (samples/run_mnist.sh does all of this, and installs what is needed)
// Expect: a line for each of five epochs, the accuracy rising to about 0.98, then
//         result accuracy=0.9811 loss=… samples_per_second=… wait_fraction=… … device=…
//
// To read, in this order:
//
//   training.hpp    the loop over epochs and batches: all that has to do with feedline, except for
//   evaluation.hpp  how answers come back, what loaders are asked for, and
//   files           opening the data; checkpoints, and lines to compare runs by
//   network.hpp     the network; cpu and gpu.cuh: what it needs of a device, and how ranks sum
//   options         the command line; which ranks there are: --gpus, mpirun, torchrun, srun
//   main.cpp        a thread for each rank of this process

#include <feedline/feedline.hpp>

#include "cpu.hpp"
#include "options.hpp"
#include "training.hpp"
#ifdef __CUDACC__
#include "gpu.cuh"
#endif

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <thread>
#include <vector>

namespace {

mnist::facilities this_machine(const feedline::shard& launched) {
  mnist::facilities machine{.local_rank = mnist::local_rank_from_environment(launched)};
#ifdef __CUDACC__
  machine.gpus = feedline::cuda_device_count();
  machine.cuda = true;
  machine.nccl = mnist::has_nccl;
#endif
  return machine;
}

/// @return The program's exit code.
template <class Work>
int report_errors(Work work) {
  try {
    work();
    return 0;
  } catch (const feedline::usage_error& error) {
    std::fprintf(stderr, "mnist_trainer: %s\n", error.what());
    return 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "mnist_trainer: %s\n", error.what());
    return 1;
  }
}

template <class Device>
void train(const mnist::trainer_options& options, const mnist::process_ranks& ranks) {
  typename Device::team team{ranks};
  const auto train_one = [&](const mnist::rank& self) {
    Device on{self};
    mnist::training<Device>{options, self, on, team}.run();
  };
  if (ranks.world == 1) return train_one(ranks.here.front());

  std::vector<std::thread> threads;
  for (const mnist::rank& self : ranks.here)
    threads.emplace_back([&] {
      // The others wait for this one's gradients: if it fails, the process ends. A launcher ends
      // the other processes then.
      if (const int code = report_errors([&] { train_one(self); }); code != 0) std::_Exit(code);
    });
  for (std::thread& thread : threads) thread.join();
}

void run(int argc, char** argv) {
  const mnist::trainer_options options = mnist::parse_command_line(argc, argv);
  // CUDA loads a kernel when it is first called, and may have to wait for others then: for a sum
  // that itself waits for a rank of this process. So all kernels are loaded first.
  if (options.gpus > 1) setenv("CUDA_MODULE_LOADING", "EAGER", 0);
  const auto launched = feedline::shard::from_environment();
  const auto ranks = mnist::ranks_of_process(options, launched, this_machine(launched));
  if (ranks.here.front().is_first()) mnist::require_place_for_checkpoint(options.checkpoint);
#ifdef __CUDACC__
  if (ranks.here.front().gpu >= 0) return train<mnist::gpu>(options, ranks);
#endif
  train<mnist::cpu>(options, ranks);
}

}  // namespace

int main(int argc, char** argv) {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);  // so that an epoch's line shows at its end
  return report_errors([&] { run(argc, argv); });
}
