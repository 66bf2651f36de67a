// Cost of a batch for a C++ loop, for overhead.py: microseconds, and those that the loop's thread
// computes; the medians of five epochs.
//
//     feedline_bench_python_overhead BATCH_SIZE BATCHES READERS

#include <feedline/feedline.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <ctime>
#include <iostream>
#include <numeric>
#include <string>
#include <vector>

namespace {

struct cost {
  double took;      ///< microseconds a batch
  double computed;  ///< part of these that this thread computes
};

double thread_seconds() {
  timespec used{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return static_cast<double>(used.tv_sec) + static_cast<double>(used.tv_nsec) * 1e-9;
}

cost take_all(feedline::loader& loader, std::uint64_t epoch, std::uint64_t batches) {
  const auto began = std::chrono::steady_clock::now();
  const double computed_before = thread_seconds();
  auto range = loader.epoch(epoch);
  while (const auto batch = range.next()) {
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
  const double scale = 1e6 / static_cast<double>(batches);
  return {took.count() * scale, (thread_seconds() - computed_before) * scale};
}

}  // namespace

int main(int count, char** words) {
  if (count != 4) {
    std::cerr << "say BATCH_SIZE BATCHES READERS\n";
    return 2;
  }
  const std::uint64_t batch_size = std::stoull(words[1]);
  const std::uint64_t batches = std::stoull(words[2]);
  std::vector<std::int64_t> values(batch_size * batches);
  std::iota(values.begin(), values.end(), 0);
  feedline::loader loader{
      feedline::make_memory_dataset({feedline::own("x", std::move(values))}),
      feedline::sequential{},
      feedline::make_host_device(),
      {.batch_size = batch_size, .epochs = 10'000, .readers = std::stoi(words[3])}};
  (void)take_all(loader, 0, batches);
  std::array<cost, 5> costs{};
  for (std::uint64_t epoch = 1; cost & each : costs) each = take_all(loader, epoch++, batches);
  std::ranges::sort(costs, {}, &cost::took);
  std::cout << costs[2].took << ' ';
  std::ranges::sort(costs, {}, &cost::computed);
  std::cout << costs[2].computed << '\n';
}
