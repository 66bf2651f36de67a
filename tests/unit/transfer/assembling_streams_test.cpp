/// On which streams slots are assembled, and what they wait for there.

#include "support/checks/catch.hpp"
#include "transfer/assembling_transfer.hpp"
#include "unit/transfer/carrying.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

using namespace feedline;
using namespace feedline::detail;
using namespace feedline::test::carried;
using feedline::test::device_call;
using feedline::test::recorded_call;
using feedline::test::recording_device;
using feedline::test::way;

TEST_CASE("assembling transfer: landing buffers, and with them streams, are taken in turns",
          "[transfer][host]") {
  carrying<recording_device> on{way::gather};
  std::vector<std::vector<recorded_call>> slots;
  for (std::uint64_t i = 0; i < 2 * assembling_transfer::landing_buffers + 1; ++i) {
    slots.push_back(on.carry(i % 3));
    REQUIRE(slots.back().size() == 8);  // no assembly of a gather waits for another
    (void)on.delivered();
  }
  for (std::size_t i = 0; i < slots.size(); ++i) {
    CHECK(slots[i][0].stream == slots[i % assembling_transfer::landing_buffers][0].stream);
    CHECK(slots[i][6].event == slots[i % assembling_transfer::landing_buffers][6].event);
    if (i == 0) continue;
    CHECK(slots[i][0].stream != slots[i - 1][0].stream);
    CHECK(slots[i][6].event != slots[i - 1][6].event);
  }
}

TEST_CASE(
    "assembling transfer: while nothing but the consumer is in the way, all work stands on one "
    "stream",
    "[transfer][host]") {
  constexpr std::size_t landing_buffers = assembling_transfer::landing_buffers;
  carrying<recording_device> on{way::gather};
  std::vector<stream_ref> streams;
  std::vector<event_handle> copied;
  std::vector<event_handle> has_room;
  std::vector<event_handle> assembled;
  for (std::size_t i = 0; i < landing_buffers; ++i) {
    const auto calls = on.carry(0);
    (void)on.delivered();
    streams.push_back(calls[0].stream);
    copied.push_back(calls[1].event);
    has_room.push_back(calls[3].event);
    assembled.push_back(calls[6].event);
  }
  const auto is_one_of = [](const std::vector<event_handle>& all, event_handle event) {
    return std::count(all.begin(), all.end(), event) != 0;
  };
  const auto copies_are_done = [&](event_handle event) { return is_one_of(copied, event); };
  const auto stream_of = [&](std::uint64_t ticket) {
    const auto calls = on.carry(ticket);
    (void)on.delivered();
    return calls.end()[-1].stream;
  };

  SECTION("the consumer uses the slots") {
    on.device->on_is_done = copies_are_done;
    CHECK(stream_of(0) == streams[0]);
    const auto moved = on.carry(1);
    CHECK(moved[0] == call(device_call::wait, assembled[1], streams[0]));
    for (const recorded_call& each : moved) CHECK(each.stream == streams[0]);
    (void)on.delivered();
    CHECK(stream_of(2) == streams[0]);
    CHECK(stream_of(0) == streams[0]);
    on.device->on_is_done = [](event_handle) { return true; };
    CHECK(stream_of(0) == streams[0]);
    const auto back = on.carry(1);
    CHECK(back[0] == call(device_call::wait, assembled[1], streams[1]));
    for (const recorded_call& each : back) CHECK(each.stream == streams[1]);
  }
  SECTION("an assembly is under way") {
    on.device->on_is_done = [&](event_handle event) {
      return copies_are_done(event) || is_one_of(has_room, event);
    };
    for (std::size_t i = 0; i < landing_buffers; ++i) CHECK(stream_of(0) == streams[i]);
  }
  SECTION("a copy is under way") {
    on.device->on_is_done = [&, asked = 0](event_handle event) mutable {
      // Opening a slot asks for its copy too: first, and it must be done.
      return copies_are_done(event) && asked++ % 2 == 0;
    };
    for (std::size_t i = 0; i < landing_buffers; ++i) CHECK(stream_of(0) == streams[i]);
  }
}

TEST_CASE(
    "assembling transfer: where a slot cached rows all behind it wait for it, until its landing "
    "buffer is reused",
    "[transfer][host]") {
  carrying<recording_device> on{way::resident};
  const auto keeping = on.carry(0);
  (void)on.delivered();
  REQUIRE(keeping.size() == 8);
  for (std::size_t behind = 1; behind < assembling_transfer::landing_buffers; ++behind) {
    const auto calls = on.carry(0);  // all its rows are held
    (void)on.delivered();
    REQUIRE(calls.size() == 9);
    CHECK(calls[5] == call(device_call::wait, keeping[6].event, calls[0].stream));
  }
  for (std::size_t behind = 0; behind < assembling_transfer::landing_buffers; ++behind) {
    CHECK(on.carry(0).size() == 8);
    (void)on.delivered();
  }
}

TEST_CASE(
    "assembling transfer: a slot that keeps rows waits for those before, which may be reading them",
    "[transfer][host]") {
  carrying<recording_device> on{way::resident};
  std::vector<event_handle> reading;
  for (std::size_t i = 0; i < 2 * assembling_transfer::landing_buffers; ++i) {
    reading.push_back(on.carry(0).end()[-2].event);
    (void)on.delivered();
  }
  const auto keeping = on.carry(1);
  REQUIRE(keeping.size() == 8 + assembling_transfer::landing_buffers - 1);
  for (std::size_t back = 1; back < assembling_transfer::landing_buffers; ++back) {
    CHECK(keeping[4 + back] ==
          call(device_call::wait, reading[reading.size() - back], keeping[0].stream));
  }
}
