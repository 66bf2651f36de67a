#pragma once

#include "detail/doorbell.hpp"
#include "statistics/stage_clock.hpp"

#include <atomic>

namespace feedline::detail {

/// How many of a loader's readers take requests, while the others rest: the first ones by number.
/// The first reader never rests, so that there is always one to open the next slot.
///
/// A reader looks before it takes a request, never with one in its hands: what a slot needs is
/// never held up by a reader that rests. Costs one load where none rests. Threads: `rest` by
/// readers, the others by any.
class active_readers {
 public:
  explicit active_readers(int count) noexcept : count_{count} {}

  [[nodiscard]] int count() const noexcept { return count_.load(std::memory_order_relaxed); }
  /// @param count At least 1. Who is above it rests when it comes for its next request.
  void set(int count) noexcept {
    count_.store(count);
    bell_.ring_all();
  }
  /// Nobody rests any more.
  void close() noexcept {
    closed_.store(true);
    bell_.ring_all();
  }

  /// Blocks while the reader is to rest.
  /// @param reader The caller's clock: it is idle meanwhile.
  void rest(int number, stage_clock* reader) {
    if (number < count()) return;
    const in_activity resting{reader, activity::idle};
    bell_.wait_until([&] { return number < count_.load() || closed_.load(); });
  }

 private:
  std::atomic<int> count_;
  std::atomic<bool> closed_{false};
  doorbell bell_;
};

}  // namespace feedline::detail
