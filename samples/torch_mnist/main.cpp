/// libtorch's own MNIST example (cpp/mnist of pytorch/examples), fed by libtorch's loader or by
/// feedline's: the same network and batches, and the time of each epoch.
///
///     torch=$(python3 -c 'import torch; print(torch.utils.cmake_prefix_path)')/Torch
///     cmake --preset release -D FEEDLINE_TORCH=ON -D Torch_ROOT="$torch"
///     cmake --build --preset release --target make_digits torch_mnist
///     build/release/data/make_digits data/digits
///     build/release/samples/torch_mnist/torch_mnist --data data/digits --loader torch
///     build/release/samples/torch_mnist/torch_mnist --data data/digits --loader feedline
///
/// Each prints a line for an epoch:
///
///     feedline  epoch 1: 12.345 s, train loss 0.6789, test loss 0.2345, accuracy 0.931

#include <feedline/feedline.hpp>
#include <feedline/torch.hpp>

#include <torch/torch.h>

#ifdef WITH_CUDA
#include <feedline/cuda/device.hpp>
#endif

#include "network.hpp"

#include <CLI/CLI.hpp>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <string>
#include <utility>

namespace {

struct options {
  std::string loader = "feedline";
  std::string data = "data/digits";
  std::string device = torch::cuda::is_available() ? "cuda" : "cpu";
  std::uint64_t samples = 60'000;
  std::uint64_t batch_size = 64;
  int epochs = 3;
  int workers = 0;
};

/// Trains and tests, epoch after epoch.
/// @param train Calls a step with the images and labels of each batch of an epoch.
/// @param test  The same, of the digits to test with.
template <class Train, class Test>
void run(const options& options, torch::Device device, Train train, Test test) {
  torch::manual_seed(1);
  mnist::net network;
  network.to(device);
  torch::optim::SGD optimizer{network.parameters(), torch::optim::SGDOptions(0.01).momentum(0.5)};

  for (int epoch = 0; epoch < options.epochs; ++epoch) {
    const auto begin = std::chrono::steady_clock::now();
    mnist::score trained{device};
    network.train();
    train(epoch, [&](const torch::Tensor& images, const torch::Tensor& labels) {
      optimizer.zero_grad();
      const torch::Tensor output = network.forward(images);
      const torch::Tensor loss = torch::nll_loss(output, labels);
      loss.backward();
      optimizer.step();
      trained.add(loss * labels.size(0), output, labels);
    });
    const double train_loss = trained.loss();
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;

    mnist::score tested{device};
    network.eval();
    test(epoch, [&](const torch::Tensor& images, const torch::Tensor& labels) {
      const torch::NoGradGuard no_grad;
      const torch::Tensor output = network.forward(images);
      tested.add(torch::nll_loss(output, labels, {}, torch::Reduction::Sum), output, labels);
    });
    std::printf("%-8s  epoch %d: %.3f s, train loss %.4f, test loss %.4f, accuracy %.3f\n",
                options.loader.c_str(), epoch + 1, took.count(), train_loss, tested.loss(),
                tested.accuracy());
    std::fflush(stdout);
  }
}

void run_by_torch(const options& options, torch::Device device) {
  using torch::data::datasets::MNIST;
  const auto workers = static_cast<std::size_t>(options.workers);
  const auto load = [&](MNIST::Mode mode, std::uint64_t samples, std::uint64_t batch_size) {
    auto digits = MNIST{options.data, mode}
                      .map(torch::data::transforms::Normalize<>{0.1307, 0.3081})
                      .map(torch::data::transforms::Stack<>{});
    return torch::data::make_data_loader(
        std::move(digits), torch::data::samplers::SequentialSampler{samples},
        torch::data::DataLoaderOptions{batch_size}.workers(workers));
  };
  const auto train_loader = load(MNIST::Mode::kTrain, options.samples, options.batch_size);
  const auto test_loader = load(MNIST::Mode::kTest, 10'000, 1000);

  const auto pass = [&](auto& loader, auto& step) {
    for (auto& batch : loader) {
      step(batch.data.to(device), batch.target.to(device));
    }
  };
  run(
      options, device, [&](int /*epoch*/, auto step) { pass(*train_loader, step); },
      [&](int /*epoch*/, auto step) { pass(*test_loader, step); });
}

/// The device on which feedline's batches are.
feedline::device_ptr feeding_device(torch::Device device) {
#ifdef WITH_CUDA
  if (device.is_cuda()) return feedline::make_cuda_device(device.has_index() ? device.index() : 0);
#endif
  if (device.is_cpu()) return feedline::make_host_device();
  throw feedline::usage_error{"this build of feedline has no CUDA: --device cpu"};
}

void run_by_feedline(const options& options, torch::Device device) {
  const int workers = options.workers;
  const feedline::device_ptr feeding = feeding_device(device);
  const feedline::field_transform normalize{
      .field = "image", .scale = 1.0 / 255, .mean = {0.1307}, .stddev = {0.3081}};
  const feedline::field_transform wide{.field = "label", .to = feedline::element_type::i64};

  const auto load = [&](const std::string& set, std::uint64_t samples, std::uint64_t batch_size) {
    return feedline::loader{
        feedline::open_idx(options.data + "/" + set + "-images-idx3-ubyte",
                           options.data + "/" + set + "-labels-idx1-ubyte"),
        feedline::take{feedline::sequential{}, samples, feedline::take_from::epoch_begin},
        feeding,
        {.batch_size = batch_size, .readers = workers, .transforms = {normalize, wide}}};
  };
  feedline::loader train_loader = load("train", options.samples, options.batch_size);
  feedline::loader test_loader = load("t10k", 10'000, 1000);

  const auto pass = [&](feedline::loader& loader, int epoch, auto& step) {
    for (auto& batch : loader.epoch(epoch, feedline::libtorch::current_stream(device))) {
      const feedline::libtorch::batch_tensors fields{std::move(batch)};
      step(fields.channels_last("image"), fields["label"]);
    }
  };
  run(
      options, device, [&](int epoch, auto step) { pass(train_loader, epoch, step); },
      [&](int epoch, auto step) { pass(test_loader, epoch, step); });
}

}  // namespace

int main(int argc, char* argv[]) {
  CLI::App app{"libtorch's MNIST example, by two loaders"};
  options options;
  app.add_option("--loader", options.loader, "torch or feedline")
      ->check(CLI::IsMember({"torch", "feedline"}))
      ->capture_default_str();
  app.add_option("--data", options.data, "folder with MNIST's four files, unpacked")
      ->capture_default_str();
  app.add_option("--device", options.device, "cpu, cuda or cuda:N")->capture_default_str();
  app.add_option("--samples", options.samples, "digits of an epoch")
      ->check(CLI::Range(1, 60'000))
      ->capture_default_str();
  app.add_option("--batch-size", options.batch_size)
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--epochs", options.epochs)->check(CLI::PositiveNumber)->capture_default_str();
  app.add_option("--workers", options.workers, "threads that read; 0: the training thread does")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  try {
    const torch::Device device{options.device};
    options.loader == "torch" ? run_by_torch(options, device) : run_by_feedline(options, device);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "torch_mnist: %s\n", error.what());
    return 1;
  }
}
