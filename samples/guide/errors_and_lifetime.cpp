// The code that docs/guide/errors-and-lifetime.md shows.

// [errors]
#include <feedline/feedline.hpp>

#include <cstdint>
#include <iostream>

bool run_epoch(feedline::loader& loader, std::uint64_t epoch) {
  try {
    for (feedline::batch& batch : loader.epoch(epoch)) std::cout << batch.index() << '\n';
  } catch (const feedline::stage_error& error) {
    std::cerr << error.what() << '\n';
    if (error.where().sample) std::cerr << "sample " << *error.where().sample << '\n';
    return false;
  }
  return true;
}
// [/errors]

void without_handler() {
  // [no_handler]
  feedline::map_files(false);  // no handler of SIGBUS is installed
  // [/no_handler]
}

// [deadline]
#include <feedline/feedline.hpp>

#include <chrono>
#include <iostream>
#include <stop_token>

void run_watched(feedline::epoch_range& range, const std::stop_token& interrupt) {
  using namespace std::chrono_literals;
  for (;;) {
    try {
      const auto batch = range.next(interrupt, std::chrono::steady_clock::now() + 30s);
      if (!batch) return;  // the epoch's end, or the interrupt
      std::cout << batch->index() << '\n';
    } catch (const feedline::deadline_error& late) {
      std::cerr << late.what() << '\n';  // which samples, and for how long; then wait on
    }
  }
}
// [/deadline]

feedline::loader_options leaving_reads() {
  // [leave]
  feedline::loader_options options{.batch_size = 256};
  options.leave_reads_after = std::chrono::seconds{5};
  // [/leave]
  return options;
}
