#include "device/stream_lane.hpp"

#include <algorithm>
#include <utility>

namespace feedline::detail {

using clock = std::chrono::steady_clock;

stream_lane::stream_lane(device_ptr device, trace_lane_record& record, time_anchor anchor)
    : device_{std::move(device)}, record_{record}, last_{anchor.event}, last_time_{anchor.at} {
  marks_.reserve(max_marks);
  for (std::size_t i = 0; i < max_marks; ++i) marks_.emplace_back(device_);
}

void stream_lane::mark(stream_ref stream, std::optional<trace_activity> next,
                       work_label label) noexcept {
  const std::lock_guard lock{mutex_};
  take_passed();
  // One place is of the last mark passed, from which the time of the next one is measured.
  if (placed_ - passed_ + 1 == max_marks) return forget_next();
  placed_mark& here = placed(placed_);
  here.issued = clock::now();
  here.next = next;
  here.label = label;
  try {
    device_->record(here.at.get(), stream);
  } catch (...) {
    return forget_next();
  }
  ++placed_;
}

void stream_lane::end_unmarked() noexcept {
  const std::lock_guard lock{mutex_};
  forget_next();
}

void stream_lane::forget_next() noexcept {
  if (placed_ != 0) placed(placed_ - 1).next.reset();
}

void stream_lane::poll() noexcept {
  const std::lock_guard lock{mutex_};
  take_passed();
}

void stream_lane::take_passed() noexcept {
  while (passed_ != placed_) {
    const placed_mark& next = placed(passed_);
    std::optional<std::chrono::nanoseconds> since_last;
    try {
      since_last = device_->elapsed(last_, next.at.get());
    } catch (...) {  // the work has failed, and whoever waits for it will tell
      passed_ = placed_;
      return forget_next();
    }
    if (!since_last) return;
    const auto time = std::min(std::max(last_time_ + *since_last, next.issued), clock::now());
    if (passed_ != 0) {
      const placed_mark& before = placed(passed_ + max_marks - 1);
      const work_label& of = before.label;
      if (before.next) {
        record_.add(*before.next, last_time_, std::max(time, last_time_), of.epoch,
                    of.batches == 0 ? std::nullopt : std::optional{of.batch}, of.batches);
      }
    }
    last_ = next.at.get();
    last_time_ = std::max(time, last_time_);
    ++passed_;
  }
}

}  // namespace feedline::detail
