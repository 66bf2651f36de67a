#pragma once

#include <feedline/device/device.hpp>
#include <feedline/statistics/trace.hpp>

#include "device/owned.hpp"
#include "statistics/trace_recorder.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

namespace feedline::detail {

/// A place in time that is known to the device and to the host.
struct time_anchor {
  event_handle event = event_handle::none;
  std::chrono::steady_clock::time_point at;
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
/// The device's clock is joined to the host's by an anchor, and then from mark to mark. Where the
/// two drift apart, a mark is moved: it is not before the host issued it, nor behind the moment
/// when the host saw it passed. Threads: any; a lock guards it, since only traced streams have
/// marks.
class stream_lane {
 public:
  /// How many marks may be under way; what comes when there is no room is left out.
  static constexpr std::size_t max_marks = 128;

  /// @throws device_error
  stream_lane(device_ptr device, trace_lane_record& record, time_anchor anchor);

  /// Marks the place behind the work on the stream so far.
  /// @param next What the stream does from here to the next mark; empty: nothing to tell.
  void mark(stream_ref stream, std::optional<trace_activity> next, work_label label = {}) noexcept;
  /// It is not known what the stream does behind the last mark.
  void end_unmarked() noexcept;
  /// Takes the times of all marks that the stream has passed.
  void poll() noexcept;

 private:
  struct placed_mark {
    explicit placed_mark(const device_ptr& device) : at{device, with_time} {}
    event at;
    std::chrono::steady_clock::time_point issued;
    std::optional<trace_activity> next;
    work_label label;
  };

  void take_passed() noexcept;
  void forget_next() noexcept;
  placed_mark& placed(std::size_t number) noexcept { return marks_[number % max_marks]; }

  std::mutex mutex_;
  device_ptr device_;
  trace_lane_record& record_;
  std::vector<placed_mark> marks_;
  std::size_t passed_ = 0;  ///< marks whose time is known
  std::size_t placed_ = 0;
  event_handle last_;  ///< the last one passed, or the anchor
  std::chrono::steady_clock::time_point last_time_;
};

}  // namespace feedline::detail
