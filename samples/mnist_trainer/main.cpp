// Trains a small network to read digits, on the CPU or a GPU, fed by feedline: the program to look
// at for how a training loop uses it, and to measure how long that loop waits for its data.
//
// Build:  cmake --preset release
//         cmake --build --preset release --target mnist_trainer make_digits
// Run:    build/release/data/make_digits data/digits
//         build/release/samples/mnist_trainer/mnist_trainer --data data/digits
//         (samples/run_mnist.sh does all of this, and installs what is needed)
// Expect: a line for each of five epochs, the accuracy rising to about 0.98, then
//         result accuracy=0.9811 loss=… samples_per_second=… wait_fraction=… device=…
//
// All that has to do with feedline is here, and in digits.cpp, which opens the data. network.hpp is
// the network, cpu.hpp and gpu.cuh what it needs of a device.

#include <feedline/feedline.hpp>

#include "cpu.hpp"
#include "digits.hpp"
#include "options.hpp"
#ifdef __CUDACC__
#include "gpu.cuh"
#endif

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numbers>

namespace {

using mnist::seconds;

feedline::loader_options loading(const mnist::trainer_options& options, std::uint64_t batch_size) {
  feedline::loader_options loading{.batch_size = batch_size};
  loading.epochs = options.epochs;  // so that each is read ahead while the one before ends
  loading.readers = options.prefetch ? options.readers : 0;
  loading.batches_per_slot = options.prefetch ? 0 : 1;
  loading.placement = options.placement;
  loading.max_device_cache_bytes = options.cache_mib << 20;
  // Bytes cross the bus, floats reach the network. This is MNIST's mean pixel, and its deviation.
  loading.transforms = {{.field = "image", .mean = {33.3}, .stddev = {78.6}},
                        {.field = "label", .one_hot = mnist::classes}};
  return loading;
}

/// The whole of what feedline asks of a training loop: go through the batches on your stream, and
/// issue work on it. Nothing here waits for the GPU.
template <class Device>
void train(feedline::loader& loader, std::uint64_t epoch, Device& on, mnist::network<Device>& model,
           const mnist::trainer_options& options) {
  const std::uint64_t steps = loader.plan().batches_per_epoch;
  constexpr float peak_rate = 0.05F;
  on.begin_wait();
  for (const feedline::batch& batch : loader.epoch(epoch, on.stream())) {
    on.end_wait();
    // The rate rises in the first twentieth of all steps, then falls along a cosine.
    const double at = (static_cast<double>(epoch * steps + batch.index()) + 0.5) /
                      static_cast<double>(options.epochs * steps);
    const double share = std::min(20.0 * at, 0.5 + 0.5 * std::cos(std::numbers::pi * at));
    model.train(batch["image"].data<float>(), batch["label"].data<float>(), batch.size(),
                peak_rate * static_cast<float>(share));
    on.begin_wait();
  }
  on.end_wait();
}

const char* explain(double wait_fraction, bool prefetch) {
  if (!prefetch)
    return "This is what reading costs where nothing is read ahead; leave out --no-prefetch.";
  if (wait_fraction < 0.05)
    return "That is little: the digits are read while the network computes.";
  return "That is much: more --readers or a faster disk would help.";
}

template <class Device>
void run(const mnist::trainer_options& options, Device& on) {
  const auto [train_set, test_set] = mnist::open_digits(options.data);
  feedline::shuffle order{.seed = options.seed};
  if (options.within_chunks != 0) order.within = feedline::chunks(options.within_chunks);
  constexpr std::uint64_t test_batch = 500;
  feedline::loader training{train_set, order, on.device(), loading(options, options.batch_size)};
  feedline::loader testing{test_set, feedline::sequential{}, on.device(),
                           loading(options, test_batch)};
  mnist::network<Device> model{on, feedline::sample_bytes(train_set->fields().front()),
                               std::max(options.batch_size, test_batch), options.seed};
  std::printf("data: %s, %ju digits to train on, %ju to test with\ndevice: %s, %s\n",
              options.data.c_str(), std::uintmax_t{train_set->size()},
              std::uintmax_t{test_set->size()}, on.name().c_str(),
              on.device()->capabilities().name.c_str());
  std::fprintf(stderr, "%s\n", to_string(training.plan()).c_str());

  const auto samples = static_cast<double>(training.plan().samples_per_epoch);
  seconds took_in_all{};
  seconds waited_in_all{};
  double loss = 0.0;
  double accuracy = 0.0;
  for (std::uint64_t epoch = 0; epoch < options.epochs; ++epoch) {
    const auto begun = std::chrono::steady_clock::now();
    train(training, epoch, on, model, options);
    loss = model.take_score().mean_loss;  // waits for the GPU
    const seconds took = std::chrono::steady_clock::now() - begun;
    const seconds waited = on.take_waited();
    for (const feedline::batch& batch : testing.epoch(epoch, on.stream()))
      model.test(batch["image"].data<float>(), batch["label"].data<float>(), batch.size());
    accuracy = model.take_score().accuracy;
    took_in_all += took;
    waited_in_all += waited;
    std::printf(
        "epoch %ju/%ju  loss %.4f  accuracy %.4f  %.0f samples/s  waited for data %.1f ms "
        "(%.2f %%)\n",
        std::uintmax_t{epoch + 1}, std::uintmax_t{options.epochs}, loss, accuracy,
        samples / took.count(), 1e3 * waited.count(), 100.0 * (waited / took));
  }
  const double fraction = waited_in_all / took_in_all;
  std::printf("The network waited for its data for %.1f %% of the time. %s\n", 100.0 * fraction,
              explain(fraction, options.prefetch));
  std::printf(
      "result accuracy=%.4f loss=%.9g samples_per_second=%.0f wait_fraction=%.4f device=%s\n",
      accuracy, loss, samples * static_cast<double>(options.epochs) / took_in_all.count(), fraction,
      on.name().c_str());
}

}  // namespace

int main(int argc, char** argv) {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);  // so that an epoch's line shows at its end
  try {
    const mnist::trainer_options options = mnist::parse_command_line(argc, argv);
#ifdef __CUDACC__
    if (options.device == "auto" ? feedline::cuda_device_count() > 0 : options.device != "cpu") {
      mnist::gpu gpu{options.device.size() > 5 ? std::stoi(options.device.substr(5)) : 0};
      run(options, gpu);
      return 0;
    }
#else
    if (options.device.starts_with("cuda"))
      throw feedline::usage_error{"this trainer was built without CUDA: say --device cpu"};
#endif
    mnist::cpu cpu;
    run(options, cpu);
  } catch (const feedline::usage_error& error) {
    std::fprintf(stderr, "mnist_trainer: %s\n", error.what());
    return 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "mnist_trainer: %s\n", error.what());
    return 1;
  }
  return 0;
}
