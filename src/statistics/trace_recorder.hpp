#pragma once

#include <feedline/statistics/trace.hpp>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace feedline::detail {

/// The last events of one lane, in memory that is allocated once: an event that finds no room
/// replaces the oldest one.
///
/// A reader finds out which events it may have seen half overwritten: the writer announces in
/// `begun_` that it begins before it stores anything. Its stores release and the others' loads
/// acquire, so a thread that sees a part of a new event also sees that it was begun. Threads: `add`
/// by one, `copy_to` by any.
class alignas(64) trace_lane_record {
 public:
  using time_point = std::chrono::steady_clock::time_point;

  /// @param capacity How many events are kept, at least 1.
  trace_lane_record(std::string name, lane_kind kind, time_point origin, std::size_t capacity);

  /// @param batch The first; empty: not known. Neither allocates nor blocks.
  void add(trace_activity activity, time_point begin, time_point end, std::uint64_t epoch,
           std::optional<std::uint64_t> batch = {}, std::uint32_t batches = 1) noexcept;

  [[nodiscard]] lane_kind kind() const noexcept { return kind_; }

  /// Appends the lane, with its events from the oldest to the newest.
  void copy_to(trace& to) const;

 private:
  /// begin, end, epoch, batch, and activity with batches.
  using words = std::array<std::atomic<std::uint64_t>, 5>;

  const std::string name_;
  const lane_kind kind_;
  const time_point origin_;
  std::vector<words> kept_;
  std::atomic<std::uint64_t> begun_{0};  ///< events that were begun to be stored
  std::atomic<std::uint64_t> added_{0};  ///< events that were stored
};

/// The lanes and marks of a loader's trace. Threads: `mark` and `snapshot` by any; lanes are added
/// before other threads know of it.
class trace_recorder {
 public:
  /// @param events How many events each lane keeps, at least 1.
  explicit trace_recorder(std::size_t events) : events_{events} {}

  /// A new lane. It lives as long as the recorder, and has one writer.
  trace_lane_record& add_lane(std::string name, lane_kind kind) {
    return lanes_.emplace_back(std::move(name), kind, origin_, events_);
  }
  /// A mark of this moment. The newest `max_marks` are kept; where there is no memory, it is not.
  void mark(std::string text) noexcept;
  static constexpr std::size_t max_marks = 1000;
  /// The events recorded so far; events that end meanwhile may be missing. Streams without events
  /// have no lane.
  [[nodiscard]] trace snapshot() const;

 private:
  const std::size_t events_;
  const std::chrono::steady_clock::time_point origin_ = std::chrono::steady_clock::now();
  std::deque<trace_lane_record> lanes_;
  mutable std::mutex mutex_;  ///< guards the marks
  std::deque<trace_mark> marks_;
};

}  // namespace feedline::detail
