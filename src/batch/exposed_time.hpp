#pragma once

#include <feedline/backend/device.hpp>

#include "batch/wait_sampler.hpp"
#include "device/stream_timer.hpp"

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <utility>

namespace feedline::detail {

/// Measures how long the consumer's stream waits for data, by two events on it, if it must wait for
/// a slot that is not there yet. The first follows all work issued before the consumer began to
/// wait, whether the host waits for a slot or the stream for a slot's `ready`; the second follows
/// the wait for `ready`. A slot that is already there costs one query to the device, and no event.
///
/// Events that record times cost the stream up to about 15 microseconds a wait. So about one wait
/// in an interval, sampled at random, is measured and stands for the others (`wait_sampler`); fewer
/// are measured if waits are short (`measuring_interval`).
///
/// A lock guards the measurements: it is taken where the consumer waits, and by snapshots.
/// Threads: `look` by any, the rest by the consumer.
class exposed_time {
 public:
  struct totals {
    std::chrono::nanoseconds time{};
    std::uint64_t waits = 0;       ///< number of waits that `time` is the sum of
    std::uint64_t unmeasured = 0;  ///< number of them not measured, or not added yet
  };
  using clock = wait_sampler::clock;
  static constexpr std::chrono::microseconds usual_interval{500};

  /// @throws device_error
  explicit exposed_time(const device_ptr& device, clock::duration interval = usual_interval)
      : device_{*device}, sampler_{interval}, timer_{device, pairs}, interval_{interval} {}

  /// Whether the device can record times; if not, nothing here does anything.
  [[nodiscard]] bool works() const noexcept { return timer_.works(); }

  /// The host is about to wait for a slot. @param stream Not captured.
  void host_waits(stream_ref stream) noexcept { begin(stream); }
  /// The stream is about to wait for this event. @throws device_error
  void stream_waits(stream_ref stream, event_handle ready) {
    if (works() && !waits_ && !device_.is_done(ready)) begin(stream);
  }
  /// The stream's wait was issued.
  void stream_goes_on(stream_ref stream) noexcept {
    if (!std::exchange(waits_, false)) return;
    const std::scoped_lock lock{mutex_};
    if (!std::exchange(measures_, false)) return count_unmeasured();
    const std::size_t before = timer_.under_way();
    timer_.end(stream);
    if (timer_.under_way() == before) return;  // the device refuses it: then its work fails, too
    stands_for_[++begun_ % pairs] = 1 + std::exchange(left_out_, 0);
  }
  /// Abandons the wait that was begun.
  void give_up() noexcept {
    waits_ = false;
    if (!std::exchange(measures_, false)) return;
    const std::scoped_lock lock{mutex_};
    timer_.drop();
  }

  /// Adds the measurements that the stream has passed meanwhile.
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
    if (!sampler_.begin(clock::now())) return;
    const std::scoped_lock lock{mutex_};
    collect();
    sampler_.set_interval(interval_.now());
    measures_ = timer_.begin(stream);
  }
  /// Counts a wait that another one of its block stands for: the next measured one, or the last.
  void count_unmeasured() noexcept {
    ++totals_.unmeasured;
    if (!sampler_.has_measured() || begun_ == 0) {
      ++left_out_;
    } else if (collected_ == begun_) {
      totals_.time += last_;
      ++totals_.waits;
    } else {
      ++stands_for_[begun_ % pairs];
    }
  }
  void collect() noexcept {
    while (const auto time = timer_.take()) {
      const std::uint64_t waits = stands_for_[++collected_ % pairs];
      last_ = *time;
      totals_.time += last_ * waits;
      totals_.waits += waits;
      interval_.add(last_);
    }
  }

  // The consumer's.
  device& device_;
  bool waits_ = false;
  bool measures_ = false;  ///< this wait
  wait_sampler sampler_;
  std::mutex mutex_;  ///< guards the rest
  stream_timer timer_;
  measuring_interval interval_;
  std::uint64_t left_out_ = 0;                     ///< waits that the next measurement stands for
  std::array<std::uint64_t, pairs> stands_for_{};  ///< waits, by measurement
  std::uint64_t begun_ = 0;                        ///< measurements
  std::uint64_t collected_ = 0;
  std::chrono::nanoseconds last_{};  ///< the measurement collected last
  totals totals_;
};

}  // namespace feedline::detail
