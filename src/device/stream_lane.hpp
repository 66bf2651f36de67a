#pragma once

#include <feedline/device/device.hpp>
#include <feedline/statistics/trace.hpp>

#include "device/owned.hpp"
#include "statistics/trace_recorder.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace feedline::detail {

/// The device's clock, joined to the host's: the lanes of a device share one, so that their times
/// can be compared.
struct device_clock {
  event_handle anchor = event_handle::none;
  /// When the anchor was passed, or before.
  std::chrono::steady_clock::time_point anchored;
  /// What is added to times that are measured from there.
  std::chrono::nanoseconds correction{};
};

/// Which batches a stream works on.
struct work_label {
  std::uint64_t epoch = 0;
  std::uint64_t batch = 0;
  std::uint32_t batches = 0;  ///< 0: none is known
};

/// Records what a stream does between marks in its work. A mark is a timed event, and its time is
/// taken once the stream has passed it: nobody waits.
///
/// Times are added up from mark to mark. A mark is not before the host issued it, nor behind the
/// moment when the host saw it passed; where it would be, the clock of all lanes is corrected.
/// Threads: one at a time uses the lanes of a clock.
class stream_lane {
 public:
  /// How many marks may be under way; what comes when there is no room is left out.
  static constexpr std::size_t max_marks = 128;

  /// @throws device_error
  /// @param joined Borrowed.
  stream_lane(device_ptr device, trace_lane_record& record, device_clock& joined);

  /// Marks the place behind the work on the stream so far.
  /// @param next What the stream does from here to the next mark; empty: nothing to tell.
  void mark(stream_ref stream, std::optional<trace_activity> next, work_label label = {}) noexcept;
  /// It is not known what the stream does behind the last mark.
  void forget_next() noexcept;
  /// Takes the times of all marks that the stream has passed.
  void see() noexcept;
  /// Records what was between the marks seen so far.
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
  std::size_t told_ = 0;  ///< marks
  std::size_t seen_ = 0;
  std::size_t placed_ = 0;
  event_handle last_;                                  ///< the last one seen, or the anchor
  std::chrono::steady_clock::time_point last_passed_;  ///< not corrected
  std::chrono::steady_clock::time_point last_told_{};
};

}  // namespace feedline::detail
