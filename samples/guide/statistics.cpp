// The code that docs/guide/statistics.md shows.

// [includes]
#include <feedline/feedline.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <iostream>
#include <span>
#include <stop_token>
#include <thread>
#include <vector>
// [/includes]

#include "training.hpp"

#include <algorithm>
#include <memory>

namespace {

// Stands for a cache of the user's, reduced to what the page needs: it has every second sample.
struct own_cache {
  static std::size_t read(std::span<const feedline::sample_index> samples,
                          std::span<std::byte> out) {
    std::fill(out.begin(), out.end(), std::byte{0});
    return static_cast<std::size_t>(std::count_if(
        samples.begin(), samples.end(), [](auto sample) { return sample.value % 2 == 0; }));
  }
};

// [epoch]
void train_epoch(feedline::loader& loader, std::uint64_t epoch, cudaStream_t cuda_stream) {
  const feedline::loader_statistics before = loader.statistics();
  for (feedline::batch& batch : loader.epoch(epoch, feedline::stream_ref{cuda_stream})) {
    train_step(batch["image"].data<std::uint8_t>(), batch["label"].data<std::uint8_t>(),
               batch.size(), cuda_stream);
  }
  std::cout << feedline::report(loader.statistics().since(before));
}
// [/epoch]

// [verdict]
void raise_alarm(const feedline::loader_statistics& of_epoch) {
  const feedline::loader_verdict verdict = feedline::judge(of_epoch);
  if (verdict.limit == feedline::bottleneck::consumer) return;  // the loop is fed well
  std::cerr << to_string(verdict.limit) << ": " << verdict.evidence << '\n' << verdict.next << '\n';
}
// [/verdict]

// [count]
class decoded_rows : public feedline::dataset {
 public:
  std::uint64_t size() const override { return 1000; }
  std::vector<feedline::field> fields() const override {
    return {{"x", feedline::element_type::u8, {64}}};
  }

 private:
  void do_read(const feedline::read_request& request) const override {
    // It decodes the others.
    const std::size_t found = cache_.read(request.samples, request.out[0]);
    const std::size_t missing = request.samples.size() - found;
    feedline::count_read({.decoded = missing, .cache_hits = found, .cache_misses = missing});
  }

  own_cache cache_;
};
// [/count]

// [watch]
std::jthread watch(const feedline::loader& loader) {  // ends before the loader does
  return std::jthread{[&loader](const std::stop_token& stop) {
    std::ofstream log{"loader.jsonl"};
    while (!stop.stop_requested()) {
      log << to_json(loader.statistics()) << std::endl;
      std::this_thread::sleep_for(std::chrono::seconds{10});
    }
  }};
}
// [/watch]

}  // namespace

// Uses all of them.
void run_with_statistics(feedline::loader& loader, cudaStream_t cuda_stream) {
  const std::jthread watcher = watch(loader);
  train_epoch(loader, 0, cuda_stream);
  raise_alarm(loader.statistics());
  feedline::loader own{std::make_shared<const decoded_rows>(),
                       feedline::sequential{},
                       feedline::make_host_device(),
                       {.batch_size = 64}};
  for (const feedline::batch& batch : own.epoch(0)) (void)batch;
  std::cout << feedline::report(own.statistics());
}
