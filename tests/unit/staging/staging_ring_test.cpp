#include "staging/staging_ring.hpp"

#include <feedline/error.hpp>

#include "support/checks/catch.hpp"
#include "support/devices/recording_device.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <functional>
#include <future>
#include <latch>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

using namespace feedline;
using namespace feedline::detail;
using feedline::test::device_call;
using feedline::test::recording_device;

namespace {

constexpr std::size_t slot_bytes = 512;
constexpr std::array all_states{staging_state::free, staging_state::filling, staging_state::filled,
                                staging_state::copying, staging_state::leased};

slot_work work(std::uint64_t ticket, std::uint32_t requests = 1) {
  return {.pass = std::make_shared<epoch_pass>(0),
          .ticket = feedline::ticket{ticket},
          .first = position{ticket * 8},
          .first_batch = ticket,
          .samples = requests,
          .batches = 1};
}

slot_index open_next(staging_ring& ring, std::uint64_t ticket, std::uint32_t requests = 1) {
  const slot_index slot = ring.claim().value();
  ring.open(slot, work(ticket, requests));
  return slot;
}

failure refusal(const std::string& what) {
  return {.where = {.stage = stage::staging, .path = {}},
          .cause = std::make_exception_ptr(std::runtime_error{what})};
}

/// Runs `act` on a slot that no other thread uses and that is in state `from`; the state after.
/// Throws what `act` throws, if the state stayed as it was.
staging_state after(staging_state from, const std::function<void(staging_ring&, slot_index)>& act) {
  staging_ring ring{std::make_shared<recording_device>(), 2, slot_bytes};
  const slot_index slot = ring.claim().value();
  ring[slot].requests_left.store(1);
  ring[slot].state.store(from);
  try {
    act(ring, slot);
  } catch (const std::logic_error&) {
    if (ring[slot].state.load() != from) return ring[slot].state.load();
    throw;
  }
  return ring[slot].state.load();
}

struct transition {
  const char* name;
  std::function<void(staging_ring&, slot_index)> act;
  std::vector<std::pair<staging_state, staging_state>> allowed;
};

}  // namespace

TEST_CASE("staging ring: every transition of the table is made, and no other", "[staging][host]") {
  using enum staging_state;
  const std::vector<transition> table{
      {"open", [](auto& ring, auto slot) { ring.open(slot, work(0)); }, {{free, filling}}},
      {"finish_request",
       [](auto& ring, auto slot) { ring.finish_request(slot); },
       {{filling, filled}}},
      {"recycle_after_copy",
       [](auto& ring, auto slot) { ring.recycle_after_copy(slot); },
       {{filled, copying}}},
      {"lease", [](auto& ring, auto slot) { ring.lease(slot); }, {{filled, leased}}},
      {"recycle",
       [](auto& ring, auto slot) { ring.recycle(slot); },
       {{filled, free}, {leased, free}}},
  };
  for (const auto& row : table) {
    for (const staging_state from : all_states) {
      CAPTURE(row.name, static_cast<int>(from));
      const auto found = std::find_if(row.allowed.begin(), row.allowed.end(),
                                      [&](const auto& pair) { return pair.first == from; });
      if (found != row.allowed.end()) {
        CHECK(after(from, row.act) == found->second);
      } else {
        CHECK_THROWS_AS(after(from, row.act), std::logic_error);
      }
    }
  }
}

TEST_CASE("staging ring: slots lie one after another in one zeroed block", "[staging][host]") {
  staging_ring ring{std::make_shared<recording_device>(), 3, slot_bytes};
  REQUIRE(ring.size() == 3);
  for (std::uint64_t i = 0; i < 3; ++i) {
    const slot_index slot{i};
    CHECK(ring[slot].data == ring[slot_index{0}].data + i * slot_bytes);
    CHECK(std::all_of(ring[slot].data, ring[slot].data + slot_bytes,
                      [](std::byte byte) { return byte == std::byte{0}; }));
    CHECK(ring[slot].state.load() == staging_state::free);
  }
}

TEST_CASE("staging ring: a slot is claimed by one slot scheduler until it comes back",
          "[staging][host]") {
  staging_ring ring{std::make_shared<recording_device>(), 2, slot_bytes};
  const slot_index first = open_next(ring, 0);
  const slot_index second = open_next(ring, 1);
  CHECK(first != second);
  auto third = std::async(std::launch::async, [&] { return ring.claim(); });
  ring.finish_request(first);
  CHECK(ring.next_filled() == first);
  ring.recycle(first);
  CHECK(third.get() == first);
}

TEST_CASE("staging ring: a slot being copied is not handed out before its copy is done",
          "[staging][host]") {
  const auto device = std::make_shared<recording_device>();
  bool done = false;
  int asked = 0;
  event_handle event = event_handle::none;
  constexpr int often = 200;  // more than there is spinning
  device->on_is_done = [&](event_handle of) {
    event = of;
    ++asked;
    return done || asked == often;
  };
  staging_ring ring{device, 2, slot_bytes};
  const slot_index slot = open_next(ring, 0);
  (void)open_next(ring, 1);
  ring.finish_request(slot);
  (void)ring.next_filled();
  ring.recycle_after_copy(slot);
  CHECK(ring[slot].state.load() == staging_state::copying);

  SECTION("a copy that takes long is waited for, by its own event") {
    CHECK(ring.claim() == slot);
    CHECK(asked == often);
    CHECK(event == ring[slot].copied.get());
  }
  SECTION("a copy that is done is only asked after") {
    done = true;
    CHECK(ring.claim() == slot);
    CHECK(asked == 1);
  }
  CHECK(device->calls().empty());
  CHECK(ring[slot].state.load() == staging_state::free);
}

TEST_CASE("staging ring: a slot whose copy failed is lost, and the others continue",
          "[staging][host]") {
  const auto device = std::make_shared<recording_device>();
  staging_ring ring{device, 3, slot_bytes};
  std::vector<slot_index> slots;
  for (std::uint64_t i = 0; i < 3; ++i) slots.push_back(open_next(ring, i));
  for (const slot_index slot : slots) {
    ring.finish_request(slot);
    (void)ring.next_filled();
    ring.recycle_after_copy(slot);
  }
  const event_handle bad = ring[slots[0]].copied.get();
  device->on_is_done = [bad](event_handle event) {
    if (event == bad) throw device_error{"the copy engine is gone"};
    return true;
  };
  CHECK_THROWS_AS(ring.claim(), device_error);
  CHECK(ring.claim() == slots[1]);
  CHECK(ring.claim() == slots[2]);
}

TEST_CASE("staging ring: a slot is filled with the last of its requests, which one thread learns",
          "[staging][host]") {
  constexpr std::uint32_t requests = 4;
  for (int round = 0; round < 100; ++round) {
    staging_ring ring{std::make_shared<recording_device>(), 2, slot_bytes};
    const slot_index slot = open_next(ring, 0, requests);
    std::atomic<int> last{0};
    std::latch gate{requests};
    std::vector<std::thread> readers;
    for (std::uint32_t i = 0; i < requests; ++i) {
      readers.emplace_back([&] {
        gate.arrive_and_wait();
        if (ring.finish_request(slot)) last.fetch_add(1);
      });
    }
    CHECK(ring.next_filled() == slot);
    for (auto& reader : readers) reader.join();
    CHECK(last.load() == 1);
  }
}

TEST_CASE("staging ring: a slot with a request open is not filled", "[staging][host]") {
  staging_ring ring{std::make_shared<recording_device>(), 2, slot_bytes};
  const slot_index slot = open_next(ring, 0, 3);
  CHECK_FALSE(ring.finish_request(slot));
  CHECK_FALSE(ring.finish_request(slot));
  CHECK(ring[slot].state.load() == staging_state::filling);
  CHECK(ring.finish_request(slot));
  CHECK(ring[slot].state.load() == staging_state::filled);
}

TEST_CASE("staging ring: slots come in ticket order, whichever is filled first",
          "[staging][host]") {
  staging_ring ring{std::make_shared<recording_device>(), 3, slot_bytes};
  std::vector<slot_index> slots;
  for (std::uint64_t i = 0; i < 3; ++i) slots.push_back(open_next(ring, i));
  ring.finish_request(slots[2]);
  ring.finish_request(slots[1]);
  auto first = std::async(std::launch::async, [&] { return ring.next_filled(); });
  ring.finish_request(slots[0]);
  CHECK(first.get() == slots[0]);
  CHECK(ring.next_filled() == slots[1]);
  CHECK(ring.next_filled() == slots[2]);
}

TEST_CASE("staging ring: after the end of opening come the slots in line, then nothing",
          "[staging][host]") {
  staging_ring ring{std::make_shared<recording_device>(), 3, slot_bytes};
  const slot_index slot = open_next(ring, 0);
  ring.end_opening({});
  ring.finish_request(slot);
  CHECK(ring.next_filled() == slot);
  CHECK_FALSE(ring.next_filled().has_value());
  CHECK_FALSE(ring.opening_failure().has_value());
}

TEST_CASE("staging ring: the end of opening wakes a transfer that waits", "[staging][host]") {
  staging_ring ring{std::make_shared<recording_device>(), 2, slot_bytes};
  auto waiting = std::async(std::launch::async, [&] { return ring.next_filled(); });
  ring.end_opening(refusal("no slot"));
  CHECK_FALSE(waiting.get().has_value());
  CHECK(ring.opening_failure().has_value());
  CHECK_FALSE(ring.opening_failure().has_value());  // taken
}

TEST_CASE("staging ring: the first reason for the end of opening is kept", "[staging][host]") {
  // Every reader that finds no more to open says so, those that come after a failure too.
  staging_ring ring{std::make_shared<recording_device>(), 2, slot_bytes};
  ring.end_opening(refusal("first"));
  ring.end_opening({});
  ring.end_opening(refusal("second"));
  const auto why = ring.opening_failure();
  REQUIRE(why);
  try {
    std::rethrow_exception(why->cause);
  } catch (const std::runtime_error& error) {
    CHECK(std::string{error.what()} == "first");
  }
}

TEST_CASE("staging ring: closing it while opening ends is no race", "[staging][host]") {
  for (int round = 0; round < 200; ++round) {
    staging_ring ring{std::make_shared<recording_device>(), 2, slot_bytes};
    std::latch gate{3};
    std::thread opener{[&] {
      gate.arrive_and_wait();
      ring.end_opening(refusal("gone"));
      ring.end_opening({});
    }};
    std::thread transfer{[&] {
      gate.arrive_and_wait();
      while (ring.next_filled()) {
      }
      (void)ring.opening_failure();
    }};
    gate.arrive_and_wait();
    ring.close();
    opener.join();
    transfer.join();
  }
  SUCCEED("for the thread sanitizer to judge");
}

TEST_CASE("staging ring: closing wakes waiting threads, and nothing is handed out any more",
          "[staging][host]") {
  const auto device = std::make_shared<recording_device>();
  staging_ring ring{device, 2, slot_bytes};

  SECTION("a slot scheduler that waits for a slot") {
    (void)open_next(ring, 0);
    (void)open_next(ring, 1);
    auto waiting = std::async(std::launch::async, [&] { return ring.claim(); });
    ring.close();
    CHECK_FALSE(waiting.get().has_value());
  }
  SECTION("a transfer that waits for a slot to be opened") {
    auto waiting = std::async(std::launch::async, [&] { return ring.next_filled(); });
    ring.close();
    CHECK_FALSE(waiting.get().has_value());
  }
  SECTION("a slot scheduler that waits for a copy which never ends") {
    std::promise<void> asked;
    bool first = true;
    device->on_is_done = [&](event_handle) {
      if (std::exchange(first, false)) asked.set_value();
      return false;
    };
    for (std::uint64_t i = 0; i < 2; ++i) {
      const slot_index slot = open_next(ring, i);
      ring.finish_request(slot);
      (void)ring.next_filled();
      ring.recycle_after_copy(slot);
    }
    auto waiting = std::async(std::launch::async, [&] { return ring.claim(); });
    asked.get_future().wait();
    ring.close();
    CHECK_FALSE(waiting.get().has_value());
  }
  SECTION("a transfer that waits for a slot to be filled") {
    (void)open_next(ring, 0);
    auto waiting = std::async(std::launch::async, [&] { return ring.next_filled(); });
    ring.close();
    CHECK_FALSE(waiting.get().has_value());
  }
  ring.close();
  CHECK_FALSE(ring.claim().has_value());  // though a slot is free
}

TEST_CASE("staging ring: its destruction waits until every copy from it is done",
          "[staging][host]") {
  const auto device = std::make_shared<recording_device>();
  std::vector<event_handle> events;
  {
    staging_ring ring{device, 3, slot_bytes};
    for (std::uint64_t i = 0; i < 3; ++i) events.push_back(ring[slot_index{i}].copied.get());
    device->on_sync =
        [&](event_handle event) {  // one that fails keeps no other from being waited for
          if (event == events[0]) throw device_error{"the copy engine is gone"};
        };
  }
  const auto calls = device->calls();
  REQUIRE(calls.size() == 3);
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(calls[i].what == device_call::sync);
    CHECK(calls[i].event == events[i]);
  }
}

TEST_CASE("staging ring: tells how many slots are in which state", "[staging][host]") {
  staging_ring ring{std::make_shared<recording_device>(), 4, slot_bytes};
  CHECK(ring.states() == "4 free");
  (void)open_next(ring, 0);
  const slot_index filled = open_next(ring, 1);
  (void)ring.finish_request(filled);
  CHECK(ring.states() == "2 free, 1 filling, 1 filled");
}
