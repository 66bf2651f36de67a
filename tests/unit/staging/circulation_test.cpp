/// Tests the number of staging slots that circulate.

#include "staging/staging_ring.hpp"
#include "support/checks/catch.hpp"
#include "support/devices/recording_device.hpp"

#include <cstdint>
#include <future>
#include <memory>
#include <set>
#include <thread>
#include <vector>

using namespace feedline;
using namespace feedline::detail;
using feedline::test::recording_device;

namespace {

struct circulation {
  staging_ring ring{std::make_shared<recording_device>(), 4, 512};
  std::uint64_t next = 0;

  slot_index open_next() {
    const slot_index slot = ring.claim().value();
    ring.open(slot, {.pass = std::make_shared<epoch_pass>(0),
                     .ticket = feedline::ticket{next++},
                     .samples = 1,
                     .batches = 1});
    return slot;
  }
  void fill_and_lend(slot_index slot) {
    ring.finish_request(slot);
    ring.lease(ring.next_filled().value());
  }
  /// The slots that are used when each is given back before the next is taken.
  std::set<std::size_t> used() {
    std::set<std::size_t> seen;
    for (int i = 0; i < 20; ++i) {
      const slot_index slot = open_next();
      seen.insert(slot.value);
      fill_and_lend(slot);
      ring.recycle(slot);
    }
    return seen;
  }
};

}  // namespace

TEST_CASE("circulation: all slots circulate at first, then only as many as may",
          "[staging][host]") {
  circulation on;
  CHECK(on.ring.circulating() == 4);
  CHECK(on.used().size() == 4);
  on.ring.circulate(2);
  CHECK(on.ring.circulating() == 2);
  CHECK(on.used().size() == 2);
  on.ring.circulate(3);
  CHECK(on.used().size() == 3);
  on.ring.circulate(4);
  CHECK(on.used().size() == 4);
}

TEST_CASE("circulation: a waiting thread gets a withheld slot when more may circulate",
          "[staging][host]") {
  circulation on;
  on.ring.circulate(2);
  const slot_index first = on.open_next();
  const slot_index second = on.open_next();
  auto third = std::async(std::launch::async, [&] { return on.ring.claim(); });
  for (int i = 0; i < 10'000; ++i) std::this_thread::yield();
  CHECK(third.wait_for(std::chrono::seconds{0}) == std::future_status::timeout);
  on.ring.circulate(3);
  const auto claimed = third.get();
  REQUIRE(claimed);
  CHECK(claimed->value != first.value);
  CHECK(claimed->value != second.value);
}

TEST_CASE("circulation: a slot in use stays so when fewer may circulate, and is withheld once free",
          "[staging][host]") {
  circulation on;
  std::vector<slot_index> held;
  for (int i = 0; i < 4; ++i) held.push_back(on.open_next());
  on.ring.circulate(1);
  for (const slot_index each : held) on.fill_and_lend(each);
  for (const slot_index each : held) on.ring.recycle(each);
  CHECK(on.used().size() == 1);
}

TEST_CASE("circulation: a thread that waits for a withheld slot is woken by the ring's end",
          "[staging][host]") {
  circulation on;
  on.ring.circulate(1);
  (void)on.open_next();
  auto second = std::async(std::launch::async, [&] { return on.ring.claim(); });
  on.ring.close();
  CHECK_FALSE(second.get());
}
