#include "device/trace/stream_lane.hpp"

#include <algorithm>
#include <utility>

namespace feedline::detail {

using clock = std::chrono::steady_clock;

stream_lane::stream_lane(device_ptr device, trace_lane_record& record, device_clock& joined)
    : device_{std::move(device)},
      record_{record},
      clock_{joined},
      last_{joined.anchor},
      last_passed_{joined.anchored} {
  marks_.reserve(max_marks);
  for (std::size_t i = 0; i < max_marks; ++i) marks_.emplace_back(device_);
}

void stream_lane::mark(stream_ref stream, std::optional<trace_activity> next,
                       work_label label) noexcept {
  // One entry holds the last mark that was recorded: the next bar begins there, and times are
  // measured from it.
  if (placed_ - told_ + 1 == max_marks) return forget_next();
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

void stream_lane::forget_next() noexcept {
  if (placed_ != 0) placed(placed_ - 1).next.reset();
}

void stream_lane::see() noexcept {
  while (seen_ != placed_) {
    placed_mark& next = placed(seen_);
    std::optional<std::chrono::nanoseconds> since_last;
    try {
      since_last = device_->elapsed(last_, next.at.get());
    } catch (...) {  // the work has failed, and the thread that waits for it will report it
      tell();
      told_ = seen_ = placed_;
      return forget_next();
    }
    if (!since_last) return;
    last_ = next.at.get();
    next.passed = last_passed_ += *since_last;
    next.seen = clock::now();
    ++seen_;
  }
}

void stream_lane::tell() noexcept {
  for (; told_ != seen_; ++told_) {
    const placed_mark& next = placed(told_);
    const auto measured = next.passed + clock_.correction;
    const auto time = std::min(std::max(measured, next.issued), next.seen);
    clock_.correction += time - measured;
    const auto from = std::exchange(last_told_, std::max(time, last_told_));
    if (told_ == 0) continue;
    const placed_mark& before = placed(told_ + max_marks - 1);
    const work_label& of = before.label;
    if (!before.next) continue;
    record_.add(*before.next, from, last_told_, of.epoch,
                of.batches == 0 ? std::nullopt : std::optional{of.batch}, of.batches);
  }
}

}  // namespace feedline::detail
