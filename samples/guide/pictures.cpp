// The code that docs/guide/pictures.md shows.

// [includes]
#include <feedline/feedline.hpp>

#include <chrono>
#include <cstdint>
// [/includes]

#include "training.hpp"

void draw(const feedline::dataset_ptr& train, const feedline::device_ptr& gpu,
          cudaStream_t cuda_stream) {
  // [trace]
  feedline::loader loader{train,
                          feedline::shuffle{.seed = 42},
                          gpu,
                          {.batch_size = 256, .expert = {.trace_events = 100'000}}};
  for (feedline::batch& batch : loader.epoch(0, feedline::stream_ref{cuda_stream})) {
    train_step(batch["image"].data<std::uint8_t>(), batch["label"].data<std::uint8_t>(),
               batch.size(), cuda_stream);
  }

  const feedline::trace trace = loader.trace();
  write_trace_page(trace, "epoch.html", "MNIST, batches of 256");
  write_chrome_trace(trace, "epoch.json");
  // [/trace]
}

void draw_own_loop(void (*read)(), void (*compute)()) {
  // [own]
  using clock = std::chrono::steady_clock;
  feedline::trace trace{.lanes = {{.name = "main thread"}}, .events = {}};
  const auto begin = clock::now();
  const auto timed = [&](feedline::trace_activity what, std::uint64_t batch, void (*work)()) {
    const auto from = clock::now() - begin;
    work();
    trace.events.push_back({.lane = 0,
                            .activity = what,
                            .begin = from,
                            .end = clock::now() - begin,
                            .epoch = 0,
                            .batch = batch});
  };
  for (std::uint64_t batch = 0; batch < 100; ++batch) {
    timed(feedline::trace_activity::reading, batch, read);
    timed(feedline::trace_activity::computing, batch, compute);
  }
  write_trace_page(trace, "own-loop.html", "One thread does all");
  // [/own]
}
