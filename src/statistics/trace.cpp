#include <feedline/statistics/trace.hpp>

#include <algorithm>
#include <iterator>

namespace feedline {

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
  std::copy_if(from.events.begin(), from.events.end(), std::back_inserter(part.events),
               [epoch](const trace_event& event) { return event.epoch == epoch; });
  return part;
}

}  // namespace feedline
