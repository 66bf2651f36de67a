#include "statistics/trace_recorder.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace feedline::detail {
namespace {

constexpr std::uint64_t no_batch = std::numeric_limits<std::uint64_t>::max();
constexpr unsigned batches_shift = 8;  ///< the activity's bits

}  // namespace

trace_lane_record::trace_lane_record(std::string name, lane_kind kind, time_point origin,
                                     std::size_t capacity)
    : name_{std::move(name)}, kind_{kind}, origin_{origin}, kept_(capacity) {}

void trace_lane_record::add(trace_activity activity, time_point begin, time_point end,
                            std::uint64_t epoch, std::optional<std::uint64_t> batch,
                            std::uint32_t batches) noexcept {
  const auto since_origin = [this](time_point time) {
    return static_cast<std::uint64_t>(std::chrono::nanoseconds{time - origin_}.count());
  };
  const std::uint64_t number = added_.load(std::memory_order_relaxed);
  begun_.store(number + 1, std::memory_order_relaxed);
  words& to = kept_[number % kept_.size()];
  to[0].store(since_origin(begin), std::memory_order_release);
  to[1].store(since_origin(end), std::memory_order_release);
  to[2].store(epoch, std::memory_order_release);
  to[3].store(batch.value_or(no_batch), std::memory_order_release);
  to[4].store(static_cast<std::uint64_t>(activity) | std::uint64_t{batches} << batches_shift,
              std::memory_order_release);
  added_.store(number + 1, std::memory_order_release);
}

void trace_lane_record::copy_to(trace& to) const {
  const auto lane = static_cast<std::uint32_t>(to.lanes.size());
  const std::uint64_t end = added_.load(std::memory_order_acquire);
  const std::uint64_t begin = end - std::min<std::uint64_t>(end, kept_.size());
  std::vector<trace_event> found;
  found.reserve(end - begin);
  for (std::uint64_t number = begin; number < end; ++number) {
    const words& from = kept_[number % kept_.size()];
    const auto word = [&from](std::size_t i) { return from[i].load(std::memory_order_acquire); };
    const auto time = [&word](std::size_t i) {
      return std::chrono::nanoseconds{static_cast<std::int64_t>(word(i))};
    };
    const std::uint64_t batch = word(3);
    const std::uint64_t last = word(4);
    found.push_back({lane, static_cast<trace_activity>(last & ((1U << batches_shift) - 1)), time(0),
                     time(1), word(2), batch == no_batch ? std::nullopt : std::optional{batch},
                     static_cast<std::uint32_t>(last >> batches_shift)});
  }
  const std::uint64_t begun = begun_.load(std::memory_order_relaxed);
  const std::uint64_t whole = begun - std::min<std::uint64_t>(begun, kept_.size());
  const std::uint64_t dropped = std::clamp(whole, begin, end);
  to.lanes.push_back({name_, kind_, dropped});
  to.events.insert(to.events.end(), found.begin() + static_cast<std::ptrdiff_t>(dropped - begin),
                   found.end());
}

void trace_recorder::mark(std::string text) noexcept {
  const auto now = std::chrono::steady_clock::now();
  const std::scoped_lock lock{mutex_};
  try {
    marks_.push_back({now - origin_, std::move(text)});
  } catch (...) {  // NOLINT(bugprone-empty-catch): no memory: a trace lacks a mark
  }
  if (marks_.size() > max_marks) marks_.pop_front();
}

trace trace_recorder::snapshot() const {
  trace all;
  for (const trace_lane_record& lane : lanes_) {
    const std::size_t before = all.events.size();
    lane.copy_to(all);
    // Streams are made for pieces, and for assemblies, that may never come.
    if (lane.kind() == lane_kind::stream && all.events.size() == before) all.lanes.pop_back();
  }
  const std::scoped_lock lock{mutex_};
  all.marks.assign(marks_.begin(), marks_.end());
  return all;
}

}  // namespace feedline::detail
