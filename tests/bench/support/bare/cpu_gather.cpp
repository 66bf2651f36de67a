#include "bench/support/bare/cpu_gather.hpp"

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

/// Request size of a loader with eight readers and default options.
constexpr std::size_t most_request_bytes = std::size_t{256} << 10;

cpu_gather::cpu_gather(const shape& shape, dataset_ptr data)
    : data_{std::move(data)},
      row_bytes_{sample_bytes(shape) - 1},
      rows_{std::max<std::size_t>(most_request_bytes / row_bytes_, 1)},
      order_(shape.samples) {
  for (std::size_t i = 0; i < order_.size(); ++i) order_[i].value = i;
  std::shuffle(order_.begin(), order_.end(), std::mt19937_64{1});
}

void cpu_gather::copy_request(std::size_t number, std::byte* out, row_copies copies) const {
  const std::byte* const first = data_->rows().front().data();
  const std::size_t requests = order_.size() / rows_;
  const auto samples = std::span{order_}.subspan(number % requests * rows_, rows_);
  if (copies == row_copies::by_gather) {
    detail::gather_rows(first, row_bytes_, samples, out);
    return;
  }
  for (const sample_index sample : samples) {
    std::memcpy(out, first + sample.value * row_bytes_, row_bytes_);
    out += row_bytes_;
  }
}

double cpu_gather::rate(std::byte* ring, std::size_t threads, double seconds,
                        row_copies copies) const {
  const std::size_t places = ring_bytes / request_bytes();
  std::atomic<std::size_t> next{0};
  std::atomic<bool> go{false};
  std::atomic<bool> stop{false};
  const auto gather = [&] {
    std::size_t done = 0;
    go.wait(false);
    const auto start = clock_type::now();
    for (; !stop.load(std::memory_order_relaxed); ++done) {
      const std::size_t taken = next.fetch_add(1);
      copy_request(taken, ring + taken % places * request_bytes(), copies);
    }
    return static_cast<double>(done * request_bytes()) / seconds_since(start);
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
