#include "device/trace/stream_lane.hpp"

#include <feedline/error.hpp>

#include "device/owned.hpp"
#include "statistics/trace_recorder.hpp"
#include "support/checks/catch.hpp"
#include "support/devices/scripted_device.hpp"
#include "support/devices/wrapped_device.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>

using namespace feedline;
using namespace feedline::detail;
using feedline::test::scripted;

namespace {

using clock = std::chrono::steady_clock;

/// A device whose clock, and whose answers, are a test's.
class skewed_device final : public test::wrapped_device {
 public:
  using wrapped_device::wrapped_device;
  [[nodiscard]] std::optional<std::chrono::nanoseconds> elapsed(event_handle begin,
                                                                event_handle end) override {
    if (fails) throw device_error{"the work has failed"};
    const auto real = wrapped_device::elapsed(begin, end);
    return real ? std::optional{*real + skew} : real;
  }
  std::chrono::nanoseconds skew{};
  bool fails = false;
};

/// A lane of the consumer's stream of a scripted device.
struct lane_case {
  scripted on{};
  std::shared_ptr<skewed_device> device = std::make_shared<skewed_device>(on.device);
  event anchor{on.device, with_time};
  trace_lane_record record{"stream", lane_kind::stream, {}, 1000};
  clock::time_point begin = anchored();
  device_clock joined{anchor.get(), begin};
  stream_lane lane{device, record, joined};

  clock::time_point anchored() {
    device->record(anchor.get(), on.stream);
    on.device->drain(on.stream);
    return clock::now();
  }
  void poll() {
    lane.see();
    lane.tell();
  }
  trace seen() {
    on.device->drain(on.stream);
    poll();
    trace all;
    record.copy_to(all);
    return all;
  }
};

}  // namespace

TEST_CASE("trace of a stream: between two marks stands the activity of the first, with its batches",
          "[device][host]") {
  lane_case of;
  of.lane.mark(of.on.stream, trace_activity::starved, {.epoch = 3});
  of.lane.mark(of.on.stream, trace_activity::computing, {.epoch = 3, .batch = 8, .batches = 4});
  of.lane.mark(of.on.stream, {});
  of.lane.mark(of.on.stream, trace_activity::copying);  // in progress still
  const trace all = of.seen();
  REQUIRE(all.events.size() == 2);
  CHECK(all.events[0].activity == trace_activity::starved);
  CHECK(!all.events[0].batch);
  CHECK(all.events[1].activity == trace_activity::computing);
  CHECK(all.events[1].epoch == 3);
  CHECK(all.events[1].batch == 8U);
  CHECK(all.events[1].batches == 4);
  CHECK(all.events[0].end == all.events[1].begin);
}

TEST_CASE("trace of a stream: a mark is recorded only after the stream has passed it",
          "[device][host]") {
  lane_case of;
  of.on.device->hold_work();
  of.lane.mark(of.on.stream, trace_activity::computing);
  of.on.device->launch(of.on.stream, [] {});
  of.lane.mark(of.on.stream, {});
  of.poll();
  trace before;
  of.record.copy_to(before);
  CHECK(before.events.empty());
  of.on.device->allow_all_work();
  CHECK(of.seen().events.size() == 1);
}

TEST_CASE(
    "trace of a stream: if there is no room for a mark, nothing is recorded until the next one",
    "[device][host]") {
  lane_case of;
  of.on.device->hold_work();
  of.on.device->launch(of.on.stream, [] {});
  constexpr std::uint64_t marks = 2 * stream_lane::max_marks;
  for (std::uint64_t i = 0; i < marks; ++i)
    of.lane.mark(of.on.stream, trace_activity::copying, {.epoch = 0, .batch = i, .batches = 1});
  of.on.device->allow_all_work();
  const std::uint64_t kept = of.seen().events.size();
  CHECK(kept == stream_lane::max_marks - 2);
  for (std::uint64_t i = 0; i < 3 * stream_lane::max_marks; ++i) {
    of.lane.mark(of.on.stream, trace_activity::reading, {.epoch = 1, .batch = i, .batches = 1});
    (void)of.seen();
  }
  const trace all = of.seen();
  REQUIRE(all.events.size() == kept + 3 * stream_lane::max_marks - 1);
  for (std::uint64_t i = 0; i < all.events.size(); ++i) {
    CHECK(all.events[i].epoch == (i < kept ? 0 : 1));
    CHECK(all.events[i].batch == (i < kept ? i : i - kept));
    if (i != 0) CHECK(all.events[i - 1].end <= all.events[i].begin);
  }
}

TEST_CASE(
    "trace of a stream: a device whose clock is fast or slow does not move work out of its time",
    "[device][host]") {
  lane_case of;
  of.device->skew =
      GENERATE(as<std::chrono::nanoseconds>{}, std::chrono::seconds{1}, std::chrono::seconds{-1});
  const auto before = clock::now();
  of.lane.mark(of.on.stream, trace_activity::copying);
  of.lane.mark(of.on.stream, {});
  const trace all = of.seen();
  const auto after = clock::now();
  REQUIRE(all.events.size() == 1);
  CHECK(all.events[0].begin >= before.time_since_epoch());
  CHECK(all.events[0].end >= all.events[0].begin);
  CHECK(all.events[0].end <= after.time_since_epoch());
}

TEST_CASE("trace of a stream: a correction of the clock keeps two streams together",
          "[device][host]") {
  lane_case of;
  device_clock early{of.anchor.get(), of.begin - std::chrono::seconds{1}};
  const stream copies{of.on.device};
  trace_lane_record copied{"copies", lane_kind::stream, {}, 1000};
  trace_lane_record used{"use", lane_kind::stream, {}, 1000};
  stream_lane copying{of.device, copied, early};
  stream_lane computing{of.device, used, early};
  of.on.device->hold_work();
  of.on.device->launch(of.on.stream, [] {});
  computing.mark(of.on.stream, trace_activity::computing);  // issued first, done last
  copying.mark(copies.get(), trace_activity::copying);
  copying.mark(copies.get(), {});
  of.on.device->drain(copies.get());
  of.on.device->allow_all_work();
  computing.mark(of.on.stream, {});
  of.on.device->drain(of.on.stream);
  trace all;
  for (stream_lane* const lane : {&copying, &computing}) {
    lane->see();
    lane->tell();
  }
  copied.copy_to(all);
  used.copy_to(all);
  REQUIRE(all.events.size() == 2);
  CHECK(all.events[0].activity == trace_activity::copying);
  CHECK(all.events[0].end <= all.events[1].begin);
}

TEST_CASE("trace of a stream: work that failed is left out, and the work after it is recorded",
          "[device][host]") {
  lane_case of;
  of.lane.mark(of.on.stream, trace_activity::copying, {.epoch = 1});
  of.lane.mark(of.on.stream, trace_activity::computing, {.epoch = 2});
  of.device->fails = true;
  CHECK(of.seen().events.empty());
  of.device->fails = false;
  of.lane.mark(of.on.stream, trace_activity::starved, {.epoch = 3});
  of.lane.mark(of.on.stream, {});
  const trace all = of.seen();
  REQUIRE(all.events.size() == 1);
  CHECK(all.events[0].epoch == 3);
}
