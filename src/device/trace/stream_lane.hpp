#pragma once

#include <feedline/backend/device.hpp>
#include <feedline/statistics/trace.hpp>

#include "device/owned.hpp"
#include "statistics/trace_recorder.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace feedline::detail {

/// The device's clock, related to the host's. The lanes of a device share one clock, so that their
/// times can be compared.
struct device_clock {
  event_handle anchor = event_handle::none;
  /// A time at which the anchor had been passed, or earlier.
  std::chrono::steady_clock::time_point anchored;
  /// Added to times that are measured from there.
  std::chrono::nanoseconds correction{};
};

/// The batches that a stream works on.
struct work_label {
  std::uint64_t epoch = 0;
  std::uint64_t batch = 0;
  std::uint32_t batches = 0;  ///< 0: unknown
};

/// Records what a stream does between marks in its work. A mark is a timed event; its time is read
/// after the stream has passed it, so no thread waits.
///
/// Times are added up from mark to mark. A mark cannot be passed before the host issued it, nor
/// after the host saw that it was passed; if a measured time says otherwise, the clock of all lanes
/// is corrected. Only one thread at a time may use the lanes of a clock.
class stream_lane {
 public:
  /// Most marks in flight; marks for which there is no room are dropped.
  static constexpr std::size_t max_marks = 128;

  /// @throws device_error
  /// @param joined Borrowed.
  stream_lane(device_ptr device, trace_lane_record& record, device_clock& joined);

  /// Marks the end of the stream's work so far.
  /// @param next Activity of the stream from here to the next mark; empty: nothing is recorded.
  void mark(stream_ref stream, std::optional<trace_activity> next, work_label label = {}) noexcept;
  /// Says that the stream's activity after the last mark is unknown.
  void forget_next() noexcept;
  /// Reads the times of all marks that the stream has passed.
  void see() noexcept;
  /// Records the activities between the marks seen so far.
  void tell() noexcept;

 private:
  struct placed_mark {
    explicit placed_mark(const device_ptr& device) : at{device, with_time} {}
    event at;
    std::chrono::steady_clock::time_point issued;
    std::chrono::steady_clock::time_point passed;  ///< not corrected
    std::chrono::steady_clock::time_point seen;
    std::optional<trace_activity> next;
    work_label label;
  };

  placed_mark& placed(std::size_t number) noexcept { return marks_[number % max_marks]; }

  device_ptr device_;
  trace_lane_record& record_;
  device_clock& clock_;
  std::vector<placed_mark> marks_;
  std::size_t told_ = 0;  ///< number of marks that were recorded
  std::size_t seen_ = 0;
  std::size_t placed_ = 0;
  event_handle last_;                                  ///< the last one seen, or the anchor
  std::chrono::steady_clock::time_point last_passed_;  ///< not corrected
  std::chrono::steady_clock::time_point last_told_{};
};

}  // namespace feedline::detail
