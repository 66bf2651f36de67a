#pragma once

#include <feedline/statistics/trace.hpp>

#include <chrono>
#include <cstdint>

namespace feedline::test {

/// Four batches through two lanes, whose names try what a writer must escape. Reading takes from
/// 0 to 100 µs of each 200 µs, copying from 100 to 150, in whole batches. A mark is at 350 µs.
[[nodiscard]] inline trace example_trace() {
  using std::chrono::microseconds;
  trace all;
  all.lanes = {{"fl-reader-0", lane_kind::thread, 3},
               {"</script><b> \"copy\" & 'more'\\\n\xC3\xA9", lane_kind::stream, 0}};
  for (std::uint64_t batch = 0; batch < 4; ++batch) {
    const microseconds begin{200 * batch};
    all.events.push_back({0, trace_activity::reading, begin, begin + microseconds{100}, 0, batch});
    all.events.push_back({1, trace_activity::copying, begin + microseconds{100},
                          begin + microseconds{150}, 0, batch});
  }
  all.events.push_back({0, trace_activity::stalled, microseconds{700}, microseconds{800}, 1, {}});
  all.marks.push_back({microseconds{350}, "readers < 2 & </script>"});
  return all;
}

}  // namespace feedline::test
