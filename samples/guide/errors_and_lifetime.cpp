// The code that docs/guide/errors-and-lifetime.md shows.

// [errors]
#include <feedline/feedline.hpp>

#include <cstdint>
#include <iostream>
#include <utility>

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

// [going_on]
void run_past_bad_batches(feedline::loader& loader, std::uint64_t epoch) {
  while (!run_epoch(loader, epoch)) {
    feedline::loader_state state = loader.state();  // the batch that failed
    ++state.batch;
    loader.seek(state);
  }
}
// [/going_on]

// [policy]
feedline::loader make_patient_loader(feedline::dataset_ptr images, feedline::device_ptr device) {
  feedline::loader_options options{.batch_size = 256};
  options.errors = {.action = feedline::error_action::skip,
                    .retries = 3,         // after 0.1 s, 0.2 s and 0.4 s: storage may come back
                    .max_share = 0.001};  // more than one in a thousand is an error
  return {std::move(images), feedline::shuffle{.seed = 42}, std::move(device), options};
}

void tell_failures(const feedline::loader& loader) {
  const feedline::failure_report report = loader.failures();
  std::cerr << report.count << " samples could not be read\n";
  for (const feedline::sample_failure& each : report.first)
    std::cerr << "epoch " << each.epoch << ", sample " << each.sample.value << ": " << each.message
              << '\n';
}
// [/policy]

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
      std::cerr << late.what() << '\n';  // names the samples and the time; then wait again
    }
  }
}
// [/deadline]

feedline::loader_options leaving_reads() {
  // [leave]
  feedline::loader_options options{.batch_size = 256};
  options.expert.leave_reads_after = std::chrono::seconds{5};
  // [/leave]
  return options;
}
