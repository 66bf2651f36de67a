/// What people write by hand instead of a loader, on the same data and machine as `delivery`: batches/s with an empty
/// consumer.
///
///     feedline_bench_peers
///
/// synchronous:   gather a batch into pinned memory, copy it, wait; then the next
/// double buffer: gather one batch into one of two pinned buffers while the other is being copied, one thread
///
/// Both use feedline's gather and shuffle, so what they lack is the pipeline alone. The loaders of Python are measured by
/// peers.py beside this file.

#include <feedline/cuda/cuda_device.hpp>
#include <feedline/sampler/shuffle.hpp>

#include "bench/machine.hpp"
#include "bench/measure.hpp"
#include "bench/program.hpp"
#include "bench/shapes.hpp"
#include "cuda/cuda_check.hpp"
#include "device/owned.hpp"

#include <CLI/CLI.hpp>
#include <cuda_runtime_api.h>
#include <spdlog/spdlog.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <span>
#include <string>
#include <vector>

using namespace feedline;
using namespace feedline::bench;

namespace {

struct options {
  std::string shape;
  double seconds = 0.3;
  int runs = 5;
};

/// A pinned batch, its place on the GPU, and the event behind its copy.
struct buffer {
  buffer(const device_ptr& device, std::size_t bytes)
      : pinned{device, memory_kind::staging, bytes},
        on_device{device, memory_kind::device, bytes},
        copied{device} {}
  detail::device_memory pinned;
  detail::device_memory on_device;
  detail::event copied;
};

/// Batches a second with so many buffers: one is the synchronous loop, two the double buffer.
double batches_per_second(const shape& shape, const dataset& data, std::size_t buffers,
                          double seconds) {
  const auto device = make_cuda_device(0);
  const detail::stream stream{device};
  const std::uint64_t bytes = sample_bytes(shape) * shape.batch_size;
  std::vector<buffer> ring;
  for (std::size_t i = 0; i < buffers; ++i) ring.emplace_back(device, bytes);
  const std::uint64_t image_bytes = (sample_bytes(shape) - 1) * shape.batch_size;
  const std::uint64_t an_epoch = shape.samples / shape.batch_size;
  std::vector<sample_index> samples(shape.batch_size);
  std::uint64_t count = 0;
  const auto start = clock_type::now();
  for (; seconds_since(start) < seconds; ++count) {
    buffer& next = ring[count % buffers];
    device->sync(next.copied.get());
    shuffle{.seed = 1}.indices(shape.samples, count / an_epoch,
                               position{count % an_epoch * shape.batch_size}, samples);
    std::byte* const at = next.pinned.data();
    const std::array<std::span<std::byte>, 2> out{std::span{at, image_bytes},
                                                  std::span{at + image_bytes, shape.batch_size}};
    data.read(samples, out);
    device->copy(next.on_device.data(), at, bytes, stream.get());
    device->record(next.copied.get(), stream.get());
  }
  for (const buffer& each : ring) device->sync(each.copied.get());
  return static_cast<double>(count) / seconds_since(start);
}

void run(const options& options) {
  std::printf("%s", describe_machine().c_str());
  std::printf("method:    shuffled rows in RAM, empty consumer, median of %d runs of %.1f s\n\n",
              options.runs, options.seconds);
  std::printf("%-12s %-14s %12s %8s\n", "shape", "peer", "batches/s", "GB/s");
  for (const shape& shape : shapes_named(options.shape)) {
    const auto data = make_data(shape);
    for (const std::size_t buffers : {std::size_t{1}, std::size_t{2}}) {
      std::vector<double> rates;
      for (int i = 0; i < options.runs; ++i) {
        rates.push_back(batches_per_second(shape, *data, buffers, options.seconds));
      }
      const double rate = median(rates);
      std::printf("%-12s %-14s %12.0f %8.2f\n", shape.name.c_str(),
                  buffers == 1 ? "synchronous" : "double buffer", rate,
                  rate * static_cast<double>(sample_bytes(shape) * shape.batch_size) / 1e9);
      std::fflush(stdout);
    }
  }
}

}  // namespace

int main(int argc, char* argv[]) {
  CLI::App app{"Loops written by hand, to compare with"};
  options options;
  app.add_option("--shape", options.shape, "default: all");
  app.add_option("--seconds", options.seconds, "of one run")->capture_default_str();
  app.add_option("--runs", options.runs, "runs a cell")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  return run_program(app, argc, argv, [&] { run(options); });
}
