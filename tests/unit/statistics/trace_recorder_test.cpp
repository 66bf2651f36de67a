#include "statistics/trace_recorder.hpp"

#include "support/checks/catch.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <thread>

using namespace feedline;
using namespace feedline::detail;
using std::chrono::nanoseconds;

namespace {

constexpr trace_lane_record::time_point origin{std::chrono::seconds{100}};

/// An event whose every word tells its number.
void add_numbered(trace_lane_record& to, std::uint64_t number) {
  const auto begin = origin + nanoseconds{10 * number};
  to.add(number % 2 == 0 ? trace_activity::reading : trace_activity::starved, begin,
         begin + nanoseconds{5}, number, 3 * number, static_cast<std::uint32_t>(number));
}

trace_event numbered(std::uint64_t number) {
  const nanoseconds begin{10 * number};
  return {0,
          number % 2 == 0 ? trace_activity::reading : trace_activity::starved,
          begin,
          begin + nanoseconds{5},
          number,
          3 * number,
          static_cast<std::uint32_t>(number)};
}

trace copy_of(const trace_lane_record& lane) {
  trace copy;
  lane.copy_to(copy);
  return copy;
}

}  // namespace

TEST_CASE("trace recorder: a lane returns its events in order", "[statistics][host]") {
  trace_lane_record lane{"fl-reader-0", lane_kind::thread, origin, 8};
  CHECK(copy_of(lane).events.empty());
  constexpr auto most = std::numeric_limits<std::uint64_t>::max() - 1;
  lane.add(trace_activity::stalled, origin - nanoseconds{2}, origin + nanoseconds{3}, most, most,
           std::numeric_limits<std::uint32_t>::max());
  lane.add(trace_activity::computing, origin + nanoseconds{3}, origin + nanoseconds{4}, 1,
           std::nullopt);
  const trace copy = copy_of(lane);
  CHECK(copy.lanes == std::vector<trace_lane>{{"fl-reader-0", lane_kind::thread, 0}});
  REQUIRE(copy.events.size() == 2);
  CHECK(copy.events[0] == trace_event{0, trace_activity::stalled, nanoseconds{-2}, nanoseconds{3},
                                      most, most, std::numeric_limits<std::uint32_t>::max()});
  CHECK(copy.events[1] ==
        trace_event{0, trace_activity::computing, nanoseconds{3}, nanoseconds{4}, 1, {}, 1});
}

TEST_CASE("trace recorder: a full lane keeps the newest events and counts the others",
          "[statistics][host]") {
  trace_lane_record lane{"lane", lane_kind::stream, origin, 4};
  for (std::uint64_t added = 1; added <= 11; ++added) {
    add_numbered(lane, added - 1);
    const trace copy = copy_of(lane);
    CAPTURE(added);
    const std::uint64_t kept = added < 4 ? added : 4;
    CHECK(copy.lanes[0].dropped == added - kept);
    REQUIRE(copy.events.size() == kept);
    for (std::uint64_t i = 0; i < kept; ++i) CHECK(copy.events[i] == numbered(added - kept + i));
  }
}

TEST_CASE("trace recorder: a snapshot has each lane with its number", "[statistics][host]") {
  trace_recorder recorder{4};
  auto& first = recorder.add_lane("first", lane_kind::thread);
  auto& second = recorder.add_lane("second", lane_kind::stream);
  const auto now = std::chrono::steady_clock::now();
  second.add(trace_activity::copying, now, now + nanoseconds{7}, 0);
  first.add(trace_activity::reading, now, now + nanoseconds{8}, 0);
  const trace seen = recorder.snapshot();
  REQUIRE(seen.lanes.size() == 2);
  CHECK(seen.lanes[1] == trace_lane{"second", lane_kind::stream, 0});
  REQUIRE(seen.events.size() == 2);
  CHECK(seen.events[0].lane == 0);
  CHECK(seen.events[1].lane == 1);
  CHECK(seen.events[1].activity == trace_activity::copying);
  CHECK(seen.events[1].begin >= nanoseconds{0});  // since the recorder was made
}

TEST_CASE("trace recorder: the newest marks are kept, in order", "[statistics][host]") {
  trace_recorder recorder{4};
  const std::size_t all = trace_recorder::max_marks + 3;
  for (std::size_t i = 0; i < all; ++i) recorder.mark(std::to_string(i));
  const std::vector<trace_mark> seen = recorder.snapshot().marks;
  REQUIRE(seen.size() == trace_recorder::max_marks);
  CHECK(seen.front().text == "3");
  CHECK(seen.back().text == std::to_string(all - 1));
  CHECK(nanoseconds{0} <= seen.front().at);
  CHECK(seen.front().at <= seen.back().at);
}

TEST_CASE(
    "trace recorder: a snapshot taken while the lane's thread writes is consistent, without a gap",
    "[statistics][host]") {
  // So many events that the threads run in turn while one copies them, also on a single core.
  constexpr std::size_t capacity = 4096;
  trace_lane_record lane{"lane", lane_kind::thread, origin, capacity};
  std::atomic<bool> done{false};
  std::thread writer{[&] {
    for (std::uint64_t i = 0; !done.load(std::memory_order_relaxed); ++i) add_numbered(lane, i);
  }};
  std::uint64_t broken = 0;
  for (int looks_at_full = 0; looks_at_full < 300;) {
    const trace copy = copy_of(lane);
    std::uint64_t next = copy.lanes[0].dropped;
    for (const trace_event& event : copy.events) {
      if (event != numbered(next++)) ++broken;
    }
    if (next >= capacity) ++looks_at_full;
  }
  done.store(true);
  writer.join();
  CHECK(broken == 0);
  CHECK(copy_of(lane).events.size() == capacity);
}
