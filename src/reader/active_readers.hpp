#pragma once

#include "detail/notifier.hpp"
#include "statistics/stage_clock.hpp"

#include <atomic>

namespace feedline::detail {

/// Sets how many of a loader's readers take requests while the others rest. Readers with the lowest
/// numbers are active. The first reader never rests, so one reader can always open the next slot.
///
/// A reader checks between requests, never during one, so a resting reader never delays a slot. The
/// check costs one load when no reader rests. Threads: `rest` by readers, the others by any.
class active_readers {
 public:
  explicit active_readers(int count) noexcept : count_{count} {}

  [[nodiscard]] int count() const noexcept { return count_.load(std::memory_order_relaxed); }
  /// @param count At least 1. Readers above it rest when they ask for their next request.
  void set(int count) noexcept {
    count_.store(count);
    notifier_.notify_all();
  }
  /// No reader rests any more.
  void close() noexcept {
    closed_.store(true);
    notifier_.notify_all();
  }

  /// Blocks while the reader should rest.
  /// @param reader The caller's clock: it is idle meanwhile.
  void rest(int number, stage_clock* reader) {
    if (number < count()) return;
    const in_activity resting{reader, activity::idle};
    notifier_.wait_until([&] { return number < count_.load() || closed_.load(); });
  }

 private:
  std::atomic<int> count_;
  std::atomic<bool> closed_{false};
  notifier notifier_;
};

}  // namespace feedline::detail
