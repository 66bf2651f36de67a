#include "reader/active_readers.hpp"

#include "reader/slot_scheduler.hpp"
#include "support/checks/catch.hpp"
#include "support/devices/recording_device.hpp"
#include "support/devices/stages.hpp"

#include <atomic>
#include <cstdint>
#include <future>
#include <memory>
#include <mutex>
#include <set>
#include <thread>
#include <utility>
#include <vector>

using namespace feedline;
using namespace feedline::detail;
using feedline::test::make_identity_dataset;
using feedline::test::recording_device;
using feedline::test::stages;

TEST_CASE("active readers: those above the number rest until there are more", "[reader][host]") {
  active_readers under_test{4};
  under_test.rest(3, nullptr);  // all are active at first
  under_test.set(2);
  under_test.rest(0, nullptr);
  under_test.rest(1, nullptr);
  std::atomic<int> awake{0};
  const auto resting = [&](int number) {
    return std::async(std::launch::async, [&under_test, &awake, number] {
      stage_clock clock;
      clock.enter(activity::busy);
      under_test.rest(number, &clock);
      ++awake;
      return clock.now() == activity::busy;
    });
  };
  auto third = resting(2);
  auto fourth = resting(3);
  for (int i = 0; i < 10'000; ++i) std::this_thread::yield();
  CHECK(awake.load() == 0);
  under_test.set(3);
  CHECK(third.get());
  for (int i = 0; i < 10'000; ++i) std::this_thread::yield();
  CHECK(awake.load() == 1);
  under_test.set(4);
  CHECK(fourth.get());
}

TEST_CASE("active readers: no reader rests once closed", "[reader][host]") {
  active_readers under_test{1};
  auto resting = std::async(std::launch::async, [&] { under_test.rest(5, nullptr); });
  under_test.close();
  resting.get();
  under_test.rest(7, nullptr);
}

TEST_CASE("active readers: a slot is cut for those that are active", "[reader][host]") {
  stages parts{std::make_shared<recording_device>(),
               make_identity_dataset(64 * 4, 8),
               {.batch_size = 64, .readers = 4}};
  epoch_schedule schedule{parts.plan.batches_per_epoch, 1};
  slot_scheduler under_test{parts.slots, schedule, *parts.staging};
  for (const auto& [active, requests] : {std::pair{4, 16U}, {2, 8U}, {1, 4U}}) {
    under_test.active().set(active);
    const request first = under_test.next().value();
    CHECK((*parts.staging)[slot_index{first.slot}].work.requests() == requests);
    for (std::uint32_t i = 1; i < requests; ++i) (void)under_test.next();
  }
}

TEST_CASE(
    "active readers: while the numbers of readers and slots change, every request is taken once",
    "[reader][host]") {
  constexpr int readers = 6;
  constexpr std::uint64_t tickets = 1'500;
  constexpr std::size_t slots = 5;
  stages parts{std::make_shared<recording_device>(),
               make_identity_dataset(12 * tickets, 8),
               {.batch_size = 4,
                .readers = readers,
                .expert = {.batches_per_slot = 3,
                           .request_bytes = 5 * 16,
                           .staging_slots = slots,
                           .device_slots = 2}}};
  epoch_schedule schedule{parts.plan.batches_per_epoch, 1};
  slot_scheduler under_test{parts.slots, schedule, *parts.staging};
  under_test.active().set(1);
  parts.staging->circulate(2);
  std::mutex mutex;
  std::set<std::pair<std::uint64_t, std::uint32_t>> seen;  // ticket, request
  bool twice = false;
  std::vector<std::thread> threads;
  for (int i = 0; i < readers; ++i) {
    threads.emplace_back([&, i] {
      for (;;) {
        under_test.active().rest(i, nullptr);
        const auto taken = under_test.next();
        if (!taken) return;
        const slot_index slot{taken->slot};
        {
          const std::scoped_lock lock{mutex};
          twice = twice ||
                  !seen.insert({(*parts.staging)[slot].work.ticket.value, taken->number}).second;
        }
        parts.staging->finish_request(slot);
      }
    });
  }
  bool in_order = true;
  for (std::uint64_t ticket = 0; ticket < tickets; ++ticket) {
    under_test.active().set(1 + static_cast<int>(ticket * 7 % readers));
    parts.staging->circulate(1 + ticket * 3 % slots);
    const slot_index slot = parts.staging->next_filled().value();
    in_order = in_order && (*parts.staging)[slot].work.ticket.value == ticket;
    parts.staging->recycle(slot);
  }
  under_test.close();
  for (std::thread& each : threads) each.join();
  CHECK(in_order);
  CHECK_FALSE(twice);
  CHECK(seen.size() == 3 * tickets);
}
