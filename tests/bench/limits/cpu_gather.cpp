#include <feedline/cuda/device.hpp>

#include "bench/limits/limits.hpp"
#include "bench/support/measure.hpp"
#include "bench/support/shapes.hpp"
#include "device/owned.hpp"
#include "rows/gather.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <future>
#include <numeric>
#include <random>
#include <span>
#include <thread>
#include <vector>

namespace feedline::bench {
namespace {

/// The ring and the requests of a loader with default options.
constexpr std::size_t ring_bytes = std::size_t{32} << 20;
constexpr std::size_t request_bytes = std::size_t{256} << 10;

struct source {
  dataset_ptr data;
  std::span<const std::byte> rows;
  std::size_t row_bytes;
  std::vector<sample_index> order;  ///< a random one of all rows
};

source make_source(const shape& shape) {
  const std::size_t row_bytes = sample_bytes(shape) - 1;
  source made{make_data(shape), {}, row_bytes, std::vector<sample_index>(shape.samples)};
  made.rows = made.data->rows().front();
  for (std::size_t i = 0; i < made.order.size(); ++i) made.order[i].value = i;
  std::shuffle(made.order.begin(), made.order.end(), std::mt19937_64{1});
  return made;
}

/// Bytes a second of so many threads, each filling its own requests of the ring with its own part
/// of the order, round and round.
double gather_rate(const source& source, std::byte* ring, std::size_t threads, double seconds) {
  const std::size_t rows = std::max<std::size_t>(request_bytes / source.row_bytes, 1);
  const std::size_t places = ring_bytes / (rows * source.row_bytes);
  const std::size_t part = source.order.size() / threads;
  std::atomic<bool> go{false};
  std::atomic<bool> stop{false};
  const auto gather = [&](std::size_t thread) {
    const std::span<const sample_index> order{source.order.data() + thread * part, part};
    std::size_t at = 0;
    std::size_t requests = 0;
    go.wait(false);
    const auto start = clock_type::now();
    for (; !stop.load(std::memory_order_relaxed); ++requests) {
      if (at + rows > order.size()) at = 0;
      std::byte* const out =
          ring + (thread + requests * threads) % places * (rows * source.row_bytes);
      detail::gather_rows(source.rows.data(), source.row_bytes, order.subspan(at, rows), out);
      at += rows;
    }
    return static_cast<double>(requests * rows * source.row_bytes) / seconds_since(start);
  };
  std::vector<std::future<double>> rates;
  for (std::size_t i = 0; i < threads; ++i)
    rates.push_back(std::async(std::launch::async, gather, i));
  go = true;
  go.notify_all();
  std::this_thread::sleep_for(std::chrono::duration<double>{seconds});
  stop = true;
  return std::accumulate(rates.begin(), rates.end(), 0.0,
                         [](double sum, std::future<double>& each) { return sum + each.get(); });
}

}  // namespace

void measure_cpu_gather(const common_options& options, results& found) {
  constexpr std::array<std::size_t, 5> threads{1, 2, 4, 8, 16};
  std::printf("\nrandom rows gathered by CPU threads into a pinned ring of 32 MiB, GB/s\n");
  std::printf("%-12s %9s %9s", "rows of", "row bytes", "MB");
  for (const std::size_t each : threads) std::printf(" %7zu t", each);
  std::printf("\n");
  const auto device = make_cuda_device(0);
  const detail::device_memory ring{device, memory_kind::staging, ring_bytes};
  for (const shape& shape : row_shapes(options.shape)) {
    const source source = make_source(shape);
    std::printf("%-12s %9zu %9.0f", shape.name.c_str(), source.row_bytes,
                static_cast<double>(source.rows.size()) / 1e6);
    for (const std::size_t each : threads) {
      const double rate = median_of(
          options.runs, [&] { return gather_rate(source, ring.data(), each, options.seconds); });
      std::printf(" %9.2f", rate / 1e9);
      std::fflush(stdout);
      found.add({{"limit", "cpu gather"},
                 {"shape", shape.name},
                 {"row_bytes", source.row_bytes},
                 {"threads", each},
                 {"bytes_per_second", rate}});
    }
    std::printf("\n");
  }
}

}  // namespace feedline::bench
