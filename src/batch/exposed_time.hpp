#pragma once

#include <feedline/device/device.hpp>

#include "device/stream_timer.hpp"

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>

namespace feedline::detail {

/// How long the consumer's stream waits for data: two events on it, where it is let wait for a slot
/// that is not there yet. The first stands behind all work that was issued before the consumer
/// began to wait, be it the host for a slot or the stream for a slot's `ready`; the second behind
/// the wait for `ready`. Slots that are there already cost one question to the device, and no
/// event.
///
/// A lock guards the measurements: it is taken where the consumer waits, and by snapshots.
/// Threads: `look` by any, the rest by the consumer.
class exposed_time {
 public:
  struct totals {
    std::chrono::nanoseconds time{};
    std::uint64_t waits = 0;
    std::uint64_t unmeasured = 0;
  };

  /// @throws device_error
  explicit exposed_time(const device_ptr& device) : device_{*device}, timer_{device, pairs} {}

  /// Whether the device tells times; else nothing here does anything.
  [[nodiscard]] bool works() const noexcept { return timer_.works(); }

  /// The host is about to wait for a slot. @param stream Not captured.
  void host_waits(stream_ref stream) noexcept { begin(stream); }
  /// The stream is about to wait for this event.
  void stream_waits(stream_ref stream, event_handle ready) noexcept {
    if (works() && !begun_ && !is_done(ready)) begin(stream);
  }
  /// It was let wait.
  void stream_goes_on(stream_ref stream) noexcept {
    if (!begun_) return;
    begun_ = false;
    const std::scoped_lock lock{mutex_};
    timer_.end(stream);
  }
  /// What was begun is not waited for any more.
  void give_up() noexcept {
    if (!begun_) return;
    begun_ = false;
    const std::scoped_lock lock{mutex_};
    timer_.drop();
  }

  /// Adds what the stream has passed meanwhile.
  [[nodiscard]] totals look() noexcept {
    const std::scoped_lock lock{mutex_};
    collect();
    return totals_;
  }

 private:
  static constexpr std::size_t pairs = 32;

  void begin(stream_ref stream) noexcept {
    if (!works() || begun_) return;
    const std::scoped_lock lock{mutex_};
    collect();
    begun_ = timer_.begin(stream);
    if (!begun_) ++totals_.unmeasured;
  }
  void collect() noexcept {
    while (const auto time = timer_.take()) {
      totals_.time += *time;
      ++totals_.waits;
    }
  }
  [[nodiscard]] bool is_done(event_handle event) noexcept {
    try {
      return device_.is_done(event);
    } catch (...) {  // who waits for it hears of that
      return true;
    }
  }

  device& device_;
  bool begun_ = false;  ///< the consumer's
  std::mutex mutex_;    ///< guards the rest
  stream_timer timer_;
  totals totals_;
};

}  // namespace feedline::detail
