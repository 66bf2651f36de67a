// Trains a small network to read digits, on the CPU or a GPU, fed by feedline: the program to look
// at for how a training loop uses it, and to measure how long that loop waits for its data.
//
// Build:  cmake --preset release && cmake --build --preset release --target mnist_trainer make_digits
// Run:    build/release/data/make_digits data/digits
//         build/release/samples/mnist_trainer/mnist_trainer --data data/digits
//         (samples/run_mnist.sh does all of this, and installs what is needed)
// Expect: a line for each of five epochs, the accuracy rising to about 0.98, then
//         result accuracy=0.9790 samples_per_second=… wait_fraction=… batches_checksum=… device=…
//
// Read training.cpp first; compute.hpp shows what differs between CPU and GPU.

#include <feedline/dataset/field.hpp>
#include <feedline/error.hpp>

#include "compute.hpp"
#include "digit_sets.hpp"
#include "options.hpp"
#include "sorted_digits.hpp"
#include "training.hpp"

#include <algorithm>
#include <cstdio>
#include <exception>

namespace {

mnist::compute make_compute(const mnist::device_choice& choice,
                            const mnist::network_options& options) {
  using kind = mnist::device_choice::kind;
  const bool on_gpu =
      choice.where == kind::cuda || (choice.where == kind::automatic && mnist::usable_gpus() > 0);
  return on_gpu ? mnist::make_cuda_compute(choice.ordinal, options)
                : mnist::make_cpu_compute(options);
}

/// What the share of the time in which the network waited for its data says.
void explain_waiting(const mnist::trainer_options& options, double fraction, bool on_cpu) {
  constexpr double little = 0.05;
  std::printf("The network waited for its data for %.1f %% of the time. ", 100.0 * fraction);
  if (options.prefetch) {
    std::puts(fraction < little
                  ? "That is little: the digits are read while the network computes."
                  : "That is much: the digits are read more slowly than the network computes. More "
                    "--readers or a faster disk would help.");
    return;
  }
  std::puts(
      "This is what reading costs where nothing is read ahead; leave out --no-prefetch, and it "
      "happens while the network computes.");
  if (on_cpu && fraction < little)
    std::printf(
        "There is little to gain here: the CPU computes %.0f times as long as it reads. A GPU "
        "computes so much faster that reading takes a large share.\n",
        (1.0 - fraction) / std::max(fraction, 1e-4));
}

void run(int argc, char** argv) {
  const mnist::trainer_options options = mnist::parse_command_line(argc, argv);
  mnist::digit_sets digits = mnist::open_digits(options.data);
  if (options.sorted_chunks != 0)
    digits.train = mnist::sorted_in_chunks(digits.train, options.sorted_chunks);

  mnist::network_options network;
  network.inputs = feedline::sample_bytes(digits.train->fields().front());
  network.max_batch = std::max<std::size_t>(options.batch_size, mnist::test_batch);
  network.seed = options.seed;
  mnist::compute on = make_compute(options.device, network);
  std::printf("data: %s, %s, %llu digits to train on, %llu to test with\ndevice: %s, %s\n",
              options.data.c_str(), digits.format.c_str(),
              static_cast<unsigned long long>(digits.train->size()),
              static_cast<unsigned long long>(digits.test->size()), on.name.c_str(),
              on.device->capabilities().name.c_str());

  const mnist::training_result result = mnist::train(options, digits, on);
  explain_waiting(options, result.wait_fraction, on.name == "cpu");
  std::printf(
      "result accuracy=%.4f samples_per_second=%.0f wait_fraction=%.4f batches_checksum=%016llx "
      "device=%s\n",
      result.accuracy, result.samples_per_second, result.wait_fraction,
      static_cast<unsigned long long>(result.batches_checksum), on.name.c_str());
}

}  // namespace

int main(int argc, char** argv) {
  try {
    run(argc, argv);
  } catch (const feedline::usage_error& error) {
    std::fprintf(stderr, "mnist_trainer: %s\n", error.what());
    return 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "mnist_trainer: %s\n", error.what());
    return 1;
  }
  return 0;
}
