// The code that docs/guide/statistics.md shows.

// [includes]
#include <feedline/feedline.hpp>

#include <chrono>
#include <cstdint>
#include <fstream>
#include <iostream>
#include <stop_token>
#include <thread>
// [/includes]

#include "training.hpp"

namespace {

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
  if (verdict.limit == feedline::bottleneck::consumer) return;  // as it should be
  std::cerr << to_string(verdict.limit) << ": " << verdict.evidence << '\n'
            << verdict.next << ": up to " << verdict.gain << " times as fast\n";
}
// [/verdict]

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
}
