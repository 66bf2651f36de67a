#include <feedline/statistics/trace.hpp>

#include <algorithm>
#include <chrono>
#include <iterator>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

std::string_view to_string(trace_activity activity) noexcept {
  switch (activity) {
    case trace_activity::reading:
      return "reading";
    case trace_activity::copying:
      return "copying";
    case trace_activity::computing:
      return "computing";
    case trace_activity::starved:
      return "starved";
    case trace_activity::stalled:
      return "stalled";
  }
  return "unknown";
}

std::string_view to_string(lane_kind kind) noexcept {
  return kind == lane_kind::thread ? "thread" : "stream";
}

trace only_epoch(const trace& from, std::uint64_t epoch) {
  trace part{from.lanes, {}};
  auto begin = std::chrono::nanoseconds::max();
  auto end = std::chrono::nanoseconds::min();
  for (const trace_event& event : from.events) {
    if (event.epoch != epoch) continue;
    begin = std::min(begin, event.begin);
    end = std::max(end, event.end);
    part.events.push_back(event);
  }
  std::copy_if(from.marks.begin(), from.marks.end(), std::back_inserter(part.marks),
               [&](const trace_mark& mark) { return begin <= mark.at && mark.at <= end; });
  return part;
}

}  // namespace FEEDLINE_ABI
}  // namespace feedline
