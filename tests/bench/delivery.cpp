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
#include <feedline/feedline.hpp>

#include "bench/machine.hpp"
#include "cuda/cuda_check.hpp"
#include "device/owned.hpp"

#include <CLI/CLI.hpp>
#include <cuda_runtime_api.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <random>
#include <string>
#include <vector>

using namespace feedline;
using clock_type = std::chrono::steady_clock;

namespace {

/// Rows and sizes of data sets people have; MNIST's 47 MB lie in a server's last-level cache, so
/// one shape has the same rows in 3 GB, where memory's latency sets what readers can gather.
struct shape {
  const char* name;
  std::vector<std::uint64_t> row;
  std::uint64_t batch_size;
  std::uint64_t samples;
};

const std::vector<shape>& shapes() {
  static const std::vector<shape> all{
      {"mnist64", {28, 28}, 64, 60'000},       {"mnist1024", {28, 28}, 1024, 60'000},
      {"cifar256", {3, 32, 32}, 256, 50'000},  {"imagenet256", {224, 224, 3}, 256, 4'096},
      {"small-dram", {28, 28}, 64, 4'000'000},
  };
  return all;
}

struct options {
  std::string shape;
  std::vector<int> readers{0, 1, 2, 4, 8, 14};
  std::uint64_t batches_per_slot = 0;
  std::size_t staging_slots = 0;
  double seconds = 0.5;
  int runs = 5;
};

double seconds_since(clock_type::time_point start) {
  return std::chrono::duration<double>(clock_type::now() - start).count();
}

dataset_ptr make_data(const shape& shape) {
  std::uint64_t row = 1;
  for (const auto extent : shape.row) row *= extent;
  std::vector<std::uint8_t> images(row * shape.samples);
  std::mt19937_64 random{1};
  for (std::size_t i = 0; i + 8 <= images.size(); i += 8) {
    const std::uint64_t bits = random();
    std::copy_n(reinterpret_cast<const std::uint8_t*>(&bits), 8, images.data() + i);
  }
  std::vector<std::uint8_t> labels(shape.samples);
  for (auto& label : labels) label = static_cast<std::uint8_t>(random() % 10);
  return make_memory_dataset(
      {own("image", std::move(images), shape.row), own("label", std::move(labels))});
}

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
  std::uint64_t sample_bytes_all = 0;
  for (const auto& field : plan.fields) sample_bytes_all += sample_bytes(field);
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
          static_cast<double>(samples * sample_bytes_all) / elapsed};
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
  std::printf("%-12s %7d %12.0f %8.2f [%6.2f, %6.2f] %8.1f %% %8.1f %9.1f\n", shape.name, readers,
              median.batches_per_second, median.bytes_per_second / 1e9,
              rates.front().bytes_per_second / 1e9, rates.back().bytes_per_second / 1e9,
              100 * median.bytes_per_second / limit,
              static_cast<double>(plan.slot_bytes) / (1 << 20),
              static_cast<double>(plan.staging_bytes) / (1 << 20));
  std::fflush(stdout);
}

void run(const options& options) {
  std::printf("%s", bench::describe_machine().c_str());
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
  for (const shape& shape : shapes()) {
    if (!options.shape.empty() && options.shape != shape.name) continue;
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
  CLI11_PARSE(app, argc, argv);
  spdlog::set_level(spdlog::level::warn);
  if (cuda_device_count() == 0) {
    std::printf("no GPU: nothing to measure\n");
    return 0;
  }
  try {
    run(options);
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "%s\n", failure.what());
    return 1;
  }
  return 0;
}
