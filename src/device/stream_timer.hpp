#pragma once

#include <feedline/backend/device.hpp>

#include "device/owned.hpp"

#include <chrono>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

namespace feedline::detail {

/// Measures how long a stream takes from one point in its work to another. No thread waits: a time
/// is read after the stream has passed both points.
///
/// The events are created at construction. If a device refuses to record an event, there is no
/// measurement: the measured work will fail by itself. One thread at a time may use it.
class stream_timer {
 public:
  using duration = std::chrono::nanoseconds;

  /// @param pairs Most measurements in flight at once.
  /// @throws device_error
  stream_timer(const device_ptr& device, std::size_t pairs) : device_{device} {
    for (std::size_t i = 0; i < pairs && device_->tells_times(); ++i)
      pairs_.push_back({event{device, with_time}, event{device, with_time}});
  }

  /// Whether the device measures times at all.
  [[nodiscard]] bool works() const noexcept { return !pairs_.empty(); }
  /// Whether a measurement was begun, and not ended yet.
  [[nodiscard]] bool begun() const noexcept { return begun_; }
  [[nodiscard]] std::size_t under_way() const noexcept { return under_way_; }

  /// Begins a measurement after the stream's work so far. False if there is no pair left.
  bool begin(stream_ref stream) noexcept {
    if (under_way_ == pairs_.size()) return false;
    return begun_ = try_record(next().begin, stream);
  }
  /// Ends it after the stream's work so far.
  void end(stream_ref stream) noexcept {
    if (std::exchange(begun_, false) && try_record(next().end, stream)) ++under_way_;
  }
  /// Drops the measurement that was begun.
  void drop() noexcept { begun_ = false; }

  /// The oldest measurement's time, if the stream has passed its end; never blocks.
  [[nodiscard]] std::optional<duration> take() noexcept {
    if (under_way_ == 0) return std::nullopt;
    const pair& oldest = pairs_[first_];
    std::optional<duration> time;
    try {
      time = device_->elapsed(oldest.begin.get(), oldest.end.get());
      if (!time) return std::nullopt;
    } catch (...) {  // the work has failed: its time does not count
      time = duration{0};
    }
    first_ = (first_ + 1) % pairs_.size();
    --under_way_;
    return time;
  }

 private:
  struct pair {
    event begin;
    event end;
  };

  pair& next() noexcept { return pairs_[(first_ + under_way_) % pairs_.size()]; }
  bool try_record(const event& event, stream_ref stream) noexcept {
    try {
      device_->record(event.get(), stream);
      return true;
    } catch (...) {
      return false;
    }
  }

  device_ptr device_;
  std::vector<pair> pairs_;
  std::size_t first_ = 0;
  std::size_t under_way_ = 0;
  bool begun_ = false;
};

}  // namespace feedline::detail
