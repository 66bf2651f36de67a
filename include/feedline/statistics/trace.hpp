#pragma once

#include <feedline/export.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// Activity of a thread or a stream for a period of time.
enum class trace_activity : std::uint8_t {
  reading,    ///< a reader fills staging memory from the dataset
  copying,    ///< a stream copies or assembles a slot; a thread issues that work
  computing,  ///< the consumer works on a batch: its loop's body, or its stream's kernels
  starved,    ///< waits for input
  stalled,    ///< waits for output space
};

/// "reading", "copying", "computing", "starved" or "stalled".
[[nodiscard]] std::string_view to_string(trace_activity activity) noexcept;

/// Whether the lane works (the first three) or waits.
[[nodiscard]] constexpr bool is_busy(trace_activity activity) noexcept {
  return activity < trace_activity::starved;
}

/// Source of a lane's activities.
enum class lane_kind : std::uint8_t {
  thread,  ///< a host thread
  stream,  ///< a device stream
};

/// "thread" or "stream".
[[nodiscard]] std::string_view to_string(lane_kind kind) noexcept;

/// A row of the timeline.
struct trace_lane {
  std::string name;  ///< in UTF-8: "fl-reader-0", "fl-transfer", "consumer", "copy stream"
  lane_kind kind = lane_kind::thread;
  /// Older events of this lane that were dropped because the trace was full.
  std::uint64_t dropped = 0;

  friend bool operator==(const trace_lane&, const trace_lane&) = default;
};

/// One activity of a lane, from `begin` to `end`.
struct trace_event {
  std::uint32_t lane = 0;  ///< index into `trace::lanes`
  trace_activity activity = trace_activity::reading;
  std::chrono::nanoseconds begin = {};  ///< since the loader was created
  std::chrono::nanoseconds end = {};    ///< not before `begin`
  std::uint64_t epoch = 0;
  /// The first batch concerned, counted from the epoch's beginning; empty: not known yet, or no
  /// batch.
  std::optional<std::uint64_t> batch = {};
  std::uint32_t batches = 1;  ///< number of batches; no meaning without `batch`

  friend bool operator==(const trace_event&, const trace_event&) = default;
};

/// A moment at which something changed for all lanes.
struct trace_mark {
  std::chrono::nanoseconds at = {};  ///< since the loader was created
  std::string text;                  ///< in UTF-8: "readers 4, staging slots 8", set by tuning

  friend bool operator==(const trace_mark&, const trace_mark&) = default;
};

/// Activities of a loader's threads and streams, with their times: a plain value. `loader::trace`
/// returns one. A program may also make its own, to draw another loop in the same way.
///
/// Events of one lane do not overlap.
struct trace {
  std::vector<trace_lane> lanes;
  std::vector<trace_event> events;     ///< in any order
  std::vector<trace_mark> marks = {};  ///< in any order; a loader keeps the newest thousand

  friend bool operator==(const trace&, const trace&) = default;
};

/// Returns the same lanes with the events of one epoch only, and the marks between their begin and
/// end.
[[nodiscard]] trace only_epoch(const trace& from, std::uint64_t epoch);

/// Writes a trace for Perfetto (ui.perfetto.dev) and chrome://tracing, in the Trace Event Format:
/// complete events ("X") in microseconds, one row for each lane, epoch and batches as arguments;
/// marks as instant events ("i") of the process.
///
/// This function and `write_trace_page` block until the file is written, and replace an existing
/// file. If they throw an `error` while writing, the file is incomplete.
/// @param title Title of the trace; in UTF-8.
/// @throws usage_error if an event's lane does not exist, or an event ends before it begins;
/// nothing is written then. error with path and cause if the file cannot be created or written, for
/// example on a full disk.
void write_chrome_trace(const trace& what, const std::string& path,
                        std::string_view title = "feedline");

/// Writes an HTML page that shows the timeline in any browser; zoom with the wheel and move by
/// dragging. It is one file, and loads nothing from elsewhere.
/// @throws like `write_chrome_trace`.
void write_trace_page(const trace& what, const std::string& path,
                      std::string_view title = "feedline");

}  // namespace FEEDLINE_ABI
}  // namespace feedline
