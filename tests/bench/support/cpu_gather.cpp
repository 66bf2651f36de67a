#include "bench/support/cpu_gather.hpp"

#include "bench/support/measure.hpp"
#include "rows/gather.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <future>
#include <numeric>
#include <random>
#include <span>
#include <thread>
#include <utility>

namespace feedline::bench {

/// Of a loader with default options.
constexpr std::size_t request_bytes = std::size_t{256} << 10;

cpu_gather::cpu_gather(const shape& shape, dataset_ptr data)
    : data_{std::move(data)}, row_bytes_{sample_bytes(shape) - 1}, order_(shape.samples) {
  for (std::size_t i = 0; i < order_.size(); ++i) order_[i].value = i;
  std::shuffle(order_.begin(), order_.end(), std::mt19937_64{1});
}

double cpu_gather::rate(std::byte* ring, std::size_t threads, double seconds,
                        row_copies copies) const {
  const std::byte* const first = data_->rows().front().data();
  const std::size_t rows = std::max<std::size_t>(request_bytes / row_bytes_, 1);
  const std::size_t places = ring_bytes / (rows * row_bytes_);
  const std::size_t requests = order_.size() / rows;
  std::atomic<std::size_t> next{0};
  std::atomic<bool> go{false};
  std::atomic<bool> stop{false};
  const auto gather = [&] {
    std::size_t done = 0;
    go.wait(false);
    const auto start = clock_type::now();
    for (; !stop.load(std::memory_order_relaxed); ++done) {
      const std::size_t taken = next.fetch_add(1);
      const auto samples = std::span{order_}.subspan(taken % requests * rows, rows);
      std::byte* out = ring + taken % places * (rows * row_bytes_);
      if (copies == row_copies::by_gather) {
        detail::gather_rows(first, row_bytes_, samples, out);
        continue;
      }
      for (const sample_index sample : samples) {
        std::memcpy(out, first + sample.value * row_bytes_, row_bytes_);
        out += row_bytes_;
      }
    }
    return static_cast<double>(done * rows * row_bytes_) / seconds_since(start);
  };
  std::vector<std::future<double>> rates;
  for (std::size_t i = 0; i < threads; ++i) rates.push_back(std::async(std::launch::async, gather));
  go = true;
  go.notify_all();
  std::this_thread::sleep_for(std::chrono::duration<double>{seconds});
  stop = true;
  return std::accumulate(rates.begin(), rates.end(), 0.0,
                         [](double sum, std::future<double>& each) { return sum + each.get(); });
}

}  // namespace feedline::bench
