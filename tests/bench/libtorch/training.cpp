/// What feeding costs a training loop: steps of ResNet-18 and ResNet-50 in bf16, in batches of 256
/// images of 224x224x3 bytes, on one batch that lies on the GPU and on batches of a loader.
///
///     feedline_bench_training
///     feedline_bench_training --networks resnet50 --feeds stream --steps 10 --runs 2
///
/// Method: each feed trains a network of its own; all begin with the same weights. The feeds take
/// turns, so many steps a turn, by the clock of the host, from a stream that is done to a stream
/// that is done; some steps before that are not measured, and the first turn warms up cuDNN's
/// search for algorithms and the allocators. Medians of the rounds; the ratio is that to the fixed
/// batch in the same round. Shuffled rows in RAM become normalized bf16 on the GPU, and a tensor
/// is a view of the batch. training.py is the same loop under PyTorch's DataLoader.

#include "bench/libtorch/feeds.hpp"
#include "bench/libtorch/trainer.hpp"
#include "bench/support/machine.hpp"
#include "bench/support/measure.hpp"
#include "bench/support/program.hpp"
#include "bench/support/results.hpp"
#include "bench/support/shapes.hpp"

#include <CLI/CLI.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include <ATen/Context.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <torch/version.h>

using namespace feedline::bench;

namespace {

struct options {
  std::vector<std::string> networks{"resnet18", "resnet50"};
  std::vector<std::string> feeds{"stream", "gather", "resident"};
  int readers = 8;
  double flip = 0;
  int steps = 20;
  int warm_up = 5;
  int runs = 5;
  std::string json;
};

/// A feed, the network that it trains, and what was measured.
struct contestant {
  std::string name;
  std::unique_ptr<feed> from;
  trainer network;
  std::vector<double> seconds = {};  ///< a step, in each round
};

/// Seconds a step.
double measure(contestant& trained, const options& options, const c10::cuda::CUDAStream& stream) {
  for (int i = 0; i < options.warm_up; ++i) trained.from->step(trained.network);
  stream.synchronize();
  const auto start = clock_type::now();
  for (int i = 0; i < options.steps; ++i) trained.from->step(trained.network);
  stream.synchronize();
  return seconds_since(start) / options.steps;
}

void report(const std::string& network, const shape& shape, const contestant& trained,
            const contestant& fixed, results& found) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < fixed.seconds.size(); ++i)
    ratios.push_back(trained.seconds[i] / fixed.seconds[i]);
  const double seconds = median(trained.seconds);
  const double images = static_cast<double>(shape.batch_size) / seconds;
  const double loss = trained.network.loss();
  std::printf("%-10s %-28s %10.2f %10.0f %8.3f [%5.3f, %5.3f] %9.3f\n", network.c_str(),
              trained.name.c_str(), 1e3 * seconds, images, median(ratios), quantile(ratios, 0),
              quantile(ratios, 1), loss);
  std::fflush(stdout);
  found.add({{"network", network},
             {"feed", trained.name},
             {"runs", trained.seconds.size()},
             {"step_ms", 1e3 * seconds},
             {"images_per_second", images},
             {"ratio", median(ratios)},
             {"least_ratio", quantile(ratios, 0)},
             {"most_ratio", quantile(ratios, 1)},
             {"loss", loss}});
}

void run_network(const std::string& network, const shape& shape, const feedline::dataset_ptr& data,
                 const options& options, const c10::cuda::CUDAStream& stream, results& found) {
  const auto fresh = [&] { return trainer{network == "resnet50", /*seed=*/1}; };
  std::vector<contestant> all;
  all.push_back({"a fixed batch", std::make_unique<fixed_batch>(shape), fresh()});
  for (const std::string& name : options.feeds) {
    const feedline::placement where = name == "stream"   ? feedline::placement::stream
                                      : name == "gather" ? feedline::placement::gather
                                                         : feedline::placement::resident;
    const bool reads = where == feedline::placement::stream;
    all.push_back(
        {"feedline " + name + (reads ? ", " + std::to_string(options.readers) + " readers" : ""),
         std::make_unique<loader_feed>(data, shape, where, options.readers, options.flip),
         fresh()});
  }
  for (contestant& each : all) (void)measure(each, options, stream);
  for (int i = 0; i < options.runs; ++i)
    for (contestant& each : all) each.seconds.push_back(measure(each, options, stream));
  for (const contestant& each : all) report(network, shape, each, all.front(), found);
}

void run(const options& options) {
  // A stream of libtorch's pool: its default one is null. The handle is the driver's, as events and
  // memory are, so it does not matter that libtorch made it with the runtime that it has loaded,
  // and that feedline uses the one that is linked into this program, whose names are hidden.
  const c10::cuda::CUDAStream stream = c10::cuda::getStreamFromPool(false, 0);
  const c10::cuda::CUDAStreamGuard guard{stream};
  at::globalContext().setBenchmarkCuDNN(true);
  results found{"training", machine_facts()};
  std::printf("%s", describe_machine().c_str());
  std::printf(
      "method:    libtorch %s; bf16 by autocast, channels last; %d steps a turn after %d that are "
      "not measured;\n           medians of %d rounds; ratio: to the fixed batch, [least, most]; "
      "flip %.2g\n\n",
      TORCH_VERSION, options.steps, options.warm_up, options.runs, options.flip);
  std::printf("%-10s %-28s %10s %10s %8s %16s %9s\n", "network", "feed", "ms a step", "images/s",
              "ratio", "", "last loss");
  const shape shape = shapes_named("imagenet256").front();
  const feedline::dataset_ptr data = make_data(shape);
  for (const std::string& network : options.networks)
    run_network(network, shape, data, options, stream, found);
  found.write(options.json);
}

}  // namespace

int main(int argc, char* argv[]) {
  CLI::App app{"What feeding costs a training loop"};
  options options;
  app.add_option("--networks", options.networks, "of resnet18, resnet50")
      ->delimiter(',')
      ->check(CLI::IsMember({"resnet18", "resnet50"}));
  app.add_option("--feeds", options.feeds, "of stream, gather, resident, beside a fixed batch")
      ->delimiter(',')
      ->check(CLI::IsMember({"stream", "gather", "resident"}));
  app.add_option("--readers", options.readers, "reader threads, but for gather")
      ->capture_default_str();
  app.add_option("--flip", options.flip, "probability that an image is flipped")
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str();
  app.add_option("--steps", options.steps, "of a turn")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--warm-up", options.warm_up, "steps before each turn that are not measured")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  app.add_option("--runs", options.runs, "rounds, of which the median counts")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--json", options.json, "file that the results go to, for report.py");
  return run_program(app, argc, argv, has_gpu, [&] { run(options); });
}
