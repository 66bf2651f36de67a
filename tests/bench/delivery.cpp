/// How fast batches reach the GPU: shuffled rows in RAM, delivered through a loader to a consumer
/// that does nothing, beside the rate of plain pinned copies measured in the same run.
///
///     feedline_bench_delivery                       # all shapes, several numbers of readers
///     feedline_bench_delivery --shape mnist64 --readers 8
///
/// Method: for each cell a loader is built, one epoch is consumed to warm up, then epochs are
/// consumed back to back for the time asked; the clock stops when the consumer's stream has passed
/// the last batch. The median of the runs is printed, with the least and the most. Content is not
/// checked here: the tests do that.

#include <feedline/cuda/cuda_device.hpp>
#include <feedline/loader/loader.hpp>
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

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

using namespace feedline;
using namespace feedline::bench;

namespace {

struct options {
  std::string shape;
  std::vector<int> readers{0, 1, 2, 4, 8, 14};
  std::uint64_t batches_per_slot = 0;
  std::size_t staging_slots = 0;
  double seconds = 0.3;
  int runs = 5;
};

/// Bytes a second of plain pinned copies of one size, back to back on one stream: the limit.
double copy_limit(std::size_t bytes, double seconds) {
  const auto device = make_cuda_device(0);
  const detail::device_memory from{device, memory_kind::staging, bytes};
  const detail::device_memory to{device, memory_kind::device, bytes};
  const detail::stream stream{device};
  const auto native = static_cast<cudaStream_t>(stream.get().get());
  for (int i = 0; i < 10; ++i) device->copy(to.data(), from.data(), bytes, stream.get());
  FEEDLINE_CUDA_CHECK(cudaStreamSynchronize(native));
  std::uint64_t copies = 0;
  const auto start = clock_type::now();
  while (seconds_since(start) < seconds) {
    for (int i = 0; i < 8; ++i) device->copy(to.data(), from.data(), bytes, stream.get());
    copies += 8;
    FEEDLINE_CUDA_CHECK(cudaStreamSynchronize(native));
  }
  return static_cast<double>(copies * bytes) / seconds_since(start);
}

struct rate {
  double batches_per_second;
  double bytes_per_second;
};

rate measure(loader& loader, std::uint64_t& epoch, cudaStream_t stream, double seconds) {
  const auto& plan = loader.plan();
  std::uint64_t batches = 0;
  std::uint64_t samples = 0;
  std::uint64_t bytes_a_sample = 0;
  for (const auto& field : plan.fields) bytes_a_sample += feedline::sample_bytes(field);
  const auto start = clock_type::now();
  do {
    for (batch& batch : loader.epoch(epoch++, stream_ref{stream})) {
      ++batches;
      samples += batch.size();
    }
  } while (seconds_since(start) < seconds);
  FEEDLINE_CUDA_CHECK(cudaStreamSynchronize(stream));
  const double elapsed = seconds_since(start);
  return {static_cast<double>(batches) / elapsed,
          static_cast<double>(samples * bytes_a_sample) / elapsed};
}

void run_cell(const shape& shape, const dataset_ptr& data, int readers, const options& options,
              double limit, cudaStream_t stream) {
  loader loader{data,
                shuffle{.seed = 1},
                make_cuda_device(0),
                {.batch_size = shape.batch_size,
                 .readers = readers,
                 .epochs = UINT64_MAX,
                 .batches_per_slot = options.batches_per_slot,
                 .staging_slots = options.staging_slots}};
  std::uint64_t epoch = 0;
  for (batch& batch : loader.epoch(epoch++, stream_ref{stream})) (void)batch;  // warm up
  std::vector<rate> rates;
  for (int i = 0; i < options.runs; ++i)
    rates.push_back(measure(loader, epoch, stream, options.seconds));
  std::sort(rates.begin(), rates.end(),
            [](const rate& a, const rate& b) { return a.bytes_per_second < b.bytes_per_second; });
  const rate& median = rates[rates.size() / 2];
  const auto& plan = loader.plan();
  std::printf("%-12s %7d %12.0f %8.2f [%6.2f, %6.2f] %8.1f %% %8.1f %9.1f\n", shape.name.c_str(),
              readers, median.batches_per_second, median.bytes_per_second / 1e9,
              rates.front().bytes_per_second / 1e9, rates.back().bytes_per_second / 1e9,
              100 * median.bytes_per_second / limit,
              static_cast<double>(plan.slot_bytes) / (1 << 20),
              static_cast<double>(plan.staging_bytes) / (1 << 20));
  std::fflush(stdout);
}

void run(const options& options) {
  std::printf("%s", describe_machine().c_str());
  std::printf(
      "method:    shuffled rows in RAM, empty consumer, median of %d runs of %.1f s [least, "
      "most]\n\n",
      options.runs, options.seconds);
  cudaStream_t stream = nullptr;
  FEEDLINE_CUDA_CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  const double limit = copy_limit(std::size_t{64} << 20, options.seconds);
  std::printf("pinned copies of 64 MiB: %.2f GB/s; of 8 MiB: %.2f GB/s\n\n", limit / 1e9,
              copy_limit(std::size_t{8} << 20, options.seconds) / 1e9);
  std::printf("%-12s %7s %12s %8s %16s %10s %8s %9s\n", "shape", "readers", "batches/s", "GB/s", "",
              "of limit", "slot MiB", "pinned MiB");
  for (const shape& shape : shapes_named(options.shape)) {
    const auto data = make_data(shape);
    for (const int readers : options.readers)
      run_cell(shape, data, readers, options, limit, stream);
  }
  FEEDLINE_CUDA_CHECK(cudaStreamDestroy(stream));
}

}  // namespace

int main(int argc, char* argv[]) {
  CLI::App app{"Delivery of batches to the GPU, beside the rate of plain pinned copies"};
  options options;
  app.add_option("--shape", options.shape,
                 "one of mnist64, mnist1024, cifar256, imagenet256, small-dram; default: all");
  app.add_option("--readers", options.readers, "numbers of reader threads to try")->delimiter(',');
  app.add_option("--batches-per-slot", options.batches_per_slot, "0: automatic");
  app.add_option("--staging-slots", options.staging_slots, "0: automatic");
  app.add_option("--seconds", options.seconds, "of one run");
  app.add_option("--runs", options.runs, "runs a cell")->check(CLI::PositiveNumber);
  return run_program(app, argc, argv, [&] { run(options); });
}
