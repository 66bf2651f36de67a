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

namespace {

constexpr std::size_t landing_buffers = assembling_transfer::landing_buffers;

/// What a slot's calls were, where it waited for no other slot.
struct carried_slot {
  explicit carried_slot(const std::vector<recorded_call>& calls)
      : copies{calls.at(1).stream},
        copied{calls[2].event},
        released{calls.at(4).event},
        has_room{calls.at(5).event},
        ready{calls.at(6).event},
        stream{calls.back().stream},
        assembled{calls.end()[-2].event} {}
  stream_ref copies;
  event_handle copied;
  event_handle released;
  event_handle has_room;
  event_handle ready;
  stream_ref stream;  ///< the assembly's
  event_handle assembled;
};

template <class Device>
carried_slot carry(carrying<Device>& on, std::uint64_t ticket) {
  const auto calls = on.carry(ticket);
  REQUIRE(calls.size() == 10);  // it waits for no other slot's assembly
  (void)on.delivered();
  return carried_slot{calls};
}

bool is_one_of(const std::vector<event_handle>& all, event_handle event) {
  return std::count(all.begin(), all.end(), event) != 0;
}

}  // namespace

TEST_CASE("assembling transfer: copies stand on one stream, landing buffers are taken in turns",
          "[transfer][host]") {
  carrying<recording_device> on{way::gather};
  std::vector<carried_slot> slots;
  for (std::uint64_t i = 0; i < 2 * landing_buffers + 1; ++i) slots.push_back(carry(on, i % 3));
  for (std::size_t i = 0; i < slots.size(); ++i) {
    CHECK(slots[i].copies == slots[0].copies);
    CHECK(slots[i].assembled == slots[i % landing_buffers].assembled);
    if (i != 0) CHECK(slots[i].assembled != slots[i - 1].assembled);
  }
}

TEST_CASE("assembling transfer: assemblies of cached rows take turns on a buffer's stream each",
          "[transfer][host]") {
  carrying<recording_device> on{way::gather};
  std::vector<carried_slot> slots;
  for (std::uint64_t i = 0; i < 2 * landing_buffers + 1; ++i) slots.push_back(carry(on, i % 3));
  for (std::size_t i = 0; i < slots.size(); ++i) {
    CHECK(slots[i].stream == slots[i % landing_buffers].stream);
    CHECK(slots[i].stream != slots[0].copies);
    if (i != 0) CHECK(slots[i].stream != slots[i - 1].stream);
  }
}

TEST_CASE("assembling transfer: where all rows come by copies, assemblies stand on one stream",
          "[transfer][host]") {
  carrying<recording_device> on{way::transformed};
  const stream_ref first = carry(on, 0).stream;
  for (std::uint64_t i = 1; i < 2 * landing_buffers; ++i) CHECK(carry(on, i % 3).stream == first);
}

TEST_CASE(
    "assembling transfer: while nothing but the consumer is in the way, assemblies stand on one "
    "stream",
    "[transfer][host]") {
  carrying<recording_device> on{way::gather};
  std::vector<stream_ref> streams;
  std::vector<event_handle> copied;
  std::vector<event_handle> has_room;
  for (std::size_t i = 0; i < landing_buffers; ++i) {
    const carried_slot slot = carry(on, 0);
    streams.push_back(slot.stream);
    copied.push_back(slot.copied);
    has_room.push_back(slot.has_room);
  }
  const auto copies_are_done = [&](event_handle event) { return is_one_of(copied, event); };

  SECTION("the consumer uses the slots") {
    on.device->on_is_done = copies_are_done;
    for (const std::uint64_t ticket : {0U, 1U, 2U, 0U, 1U})
      CHECK(carry(on, ticket).stream == streams[0]);
    on.device->on_is_done = [](event_handle) { return true; };
    for (const std::size_t turn : {1U, 2U, 3U, 0U}) CHECK(carry(on, 0).stream == streams[turn]);
  }
  SECTION("an assembly is under way") {
    on.device->on_is_done = [&](event_handle event) {
      return copies_are_done(event) || is_one_of(has_room, event);
    };
    for (std::size_t i = 0; i < landing_buffers; ++i) CHECK(carry(on, 0).stream == streams[i]);
  }
  SECTION("a copy is under way") {
    on.device->on_is_done = [&, asked = 0](event_handle event) mutable {
      // Opening a slot asks for its copy too: first, and it must be done.
      return copies_are_done(event) && asked++ % 2 == 0;
    };
    for (std::size_t i = 0; i < landing_buffers; ++i) CHECK(carry(on, 0).stream == streams[i]);
  }
}

TEST_CASE(
    "assembling transfer: while the consumer is at work on a slot, and still is when the copy was "
    "issued, its next assembly stands on the first stream",
    "[transfer][host]") {
  carrying<recording_device> on{way::gather};
  std::vector<carried_slot> slots;
  for (std::size_t i = 0; i < landing_buffers; ++i) slots.push_back(carry(on, 0));
  std::vector<event_handle> released;
  for (const carried_slot& each : slots) released.push_back(each.released);
  int looks = 0;  // at a `released` that is not done
  on.device->on_is_done = [&](event_handle event) {
    return !is_one_of(released, event) || looks-- <= 0;
  };
  SECTION("at work") {
    for (std::size_t i = 0; i < landing_buffers; ++i) {
      looks = 2;
      CHECK(carry(on, 0).stream == slots[0].stream);
    }
  }
  SECTION("done meanwhile") {
    for (std::size_t i = 0; i < landing_buffers; ++i) {
      looks = 1;
      CHECK(carry(on, 0).stream == slots[i].stream);
    }
  }
}

TEST_CASE(
    "assembling transfer: where a slot cached rows all behind it wait for it, until its landing "
    "buffer is reused",
    "[transfer][host]") {
  carrying<recording_device> on{way::resident};
  const carried_slot keeping = carry(on, 0);
  for (std::size_t behind = 1; behind < landing_buffers; ++behind) {
    const auto calls = on.carry(0);  // all its rows are held
    (void)on.delivered();
    REQUIRE(calls.size() == 11);
    CHECK(calls[7] == call(device_call::wait, keeping.assembled, calls[8].stream));
  }
  for (std::size_t behind = 0; behind < landing_buffers; ++behind) (void)carry(on, 0);
}

TEST_CASE(
    "assembling transfer: a slot that keeps rows waits for those before, which may be reading them",
    "[transfer][host]") {
  carrying<recording_device> on{way::resident};
  std::vector<event_handle> reading;
  for (std::size_t i = 0; i < 2 * landing_buffers; ++i) {
    reading.push_back(on.carry(0).end()[-2].event);
    (void)on.delivered();
  }
  const auto keeping = on.carry(1);
  REQUIRE(keeping.size() == 10 + landing_buffers - 1);
  for (std::size_t back = 1; back < landing_buffers; ++back) {
    CHECK(keeping[6 + back] ==
          call(device_call::wait, reading[reading.size() - back], keeping.back().stream));
  }
}
