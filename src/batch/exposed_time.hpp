#pragma once

#include <feedline/device/device.hpp>

#include "device/stream_timer.hpp"

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <utility>

namespace feedline::detail {

/// How long the consumer's stream waits for data: two events on it, where it is let wait for a slot
/// that is not there yet. The first stands behind all work that was issued before the consumer
/// began to wait, be it the host for a slot or the stream for a slot's `ready`; the second behind
/// the wait for `ready`. Slots that are there already cost one question to the device, and no
/// event.
///
/// Events that tell times cost some microseconds of a wait. So one wait in an interval is measured
/// at most, and stands for those before it that were not.
///
/// A lock guards the measurements: it is taken where the consumer waits, and by snapshots.
/// Threads: `look` by any, the rest by the consumer.
class exposed_time {
 public:
  struct totals {
    std::chrono::nanoseconds time{};
    std::uint64_t waits = 0;       ///< that `time` is the sum of
    std::uint64_t unmeasured = 0;  ///< of them, or yet to be added
  };
  using clock = std::chrono::steady_clock;
  static constexpr std::chrono::microseconds usual_interval{500};

  /// @throws device_error
  explicit exposed_time(const device_ptr& device, clock::duration interval = usual_interval)
      : device_{*device}, timer_{device, pairs}, interval_{interval} {}

  /// Whether the device tells times; else nothing here does anything.
  [[nodiscard]] bool works() const noexcept { return timer_.works(); }

  /// The host is about to wait for a slot. @param stream Not captured.
  void host_waits(stream_ref stream) noexcept { begin(stream); }
  /// The stream is about to wait for this event. @throws device_error
  void stream_waits(stream_ref stream, event_handle ready) {
    if (works() && !waits_ && !device_.is_done(ready)) begin(stream);
  }
  /// It was let wait.
  void stream_goes_on(stream_ref stream) noexcept {
    if (!std::exchange(waits_, false) || !std::exchange(measures_, false)) return;
    const std::scoped_lock lock{mutex_};
    const std::size_t before = timer_.under_way();
    timer_.end(stream);
    if (timer_.under_way() == before) forget_last();  // the device refuses: its work fails, too
  }
  /// What was begun is not waited for any more.
  void give_up() noexcept {
    if (!std::exchange(waits_, false)) return;
    const std::scoped_lock lock{mutex_};
    if (std::exchange(measures_, false)) {
      timer_.drop();
      forget_last();
    } else {
      --left_out_;
      --totals_.unmeasured;
    }
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
    if (!works() || waits_) return;
    waits_ = true;
    const clock::time_point now = clock::now();
    const std::scoped_lock lock{mutex_};
    if (now - measured_at_ >= interval_) {
      collect();
      measures_ = timer_.begin(stream);
    }
    if (!measures_) {
      ++left_out_;
      ++totals_.unmeasured;
      return;
    }
    measured_at_ = now;
    stands_for_[++begun_ % pairs] = 1 + std::exchange(left_out_, 0);
  }
  /// The measurement begun last comes to nothing; the waits before it are left to the next one.
  void forget_last() noexcept { left_out_ += stands_for_[begun_-- % pairs] - 1; }
  void collect() noexcept {
    while (const auto time = timer_.take()) {
      const std::uint64_t waits = stands_for_[++collected_ % pairs];
      totals_.time += *time * waits;
      totals_.waits += waits;
    }
  }
  device& device_;
  bool waits_ = false;     ///< the consumer's
  bool measures_ = false;  ///< likewise: this wait
  std::mutex mutex_;       ///< guards the rest
  stream_timer timer_;
  clock::duration interval_;
  clock::time_point measured_at_ = {};
  std::uint64_t left_out_ = 0;                     ///< waits since the last that was measured
  std::array<std::uint64_t, pairs> stands_for_{};  ///< waits, by measurement
  std::uint64_t begun_ = 0;                        ///< measurements
  std::uint64_t collected_ = 0;
  totals totals_;
};

}  // namespace feedline::detail
