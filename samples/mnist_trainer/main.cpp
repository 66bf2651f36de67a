// Trains a small network to read digits, on the CPU or a GPU, fed by feedline: shows how a training
// loop uses it, and measures how long that loop waits for its data.
//
// Run:    samples/run_mnist.sh, which builds all; or make_digits data/digits, and then
//         mnist_trainer --data data/digits
// Expect: a line for each of five epochs, the accuracy rising to about 0.98, then
//         result accuracy=0.9811 loss=… samples_per_second=… wait_fraction=… … device=…
// Read:   training.hpp, the loop; evaluation.hpp, how answers come back; options, what loaders are
//         asked for; digits.hpp, opening the data; network.hpp, and cpu and gpu.cuh, which compute
//
// mnist_several_gpus trains the same network on several GPUs, and continues a training that was
// killed. mnist_graphs trains it by CUDA graphs.

#include <feedline/error.hpp>

#include "cpu.hpp"
#include "options.hpp"
#include "training.hpp"
#ifdef __CUDACC__
#include "gpu.cuh"
#endif

#include <string>

namespace {

void train(const mnist::trainer_options& options) {
  if (const auto launched = feedline::shard::from_environment(); launched.world > 1)
    throw feedline::usage_error{
        "rank " + std::to_string(launched.rank) + " of " + std::to_string(launched.world) + " (" +
        std::string{launched.launcher} +
        "): each process would train alone; start mnist_several_gpus, whose ranks train together"};
#ifdef __CUDACC__
  const bool is_on_gpu =
      options.device == "auto" ? feedline::cuda_device_count() > 0 : options.device != "cpu";
  if (is_on_gpu) {
    mnist::gpu on{mnist::gpu_number(options.device)};
    return mnist::training<mnist::gpu>{options, on}.run();
  }
#else
  if (options.device.starts_with("cuda"))
    throw feedline::usage_error{"this trainer was built without CUDA: say --device cpu"};
#endif
  mnist::cpu on;
  mnist::training<mnist::cpu>{options, on}.run();
}

}  // namespace

int main(int argc, char** argv) {
  const mnist::trainer_options options = mnist::parse_command_line(argc, argv);
  return mnist::report_errors("mnist_trainer", [&] { train(options); });
}
