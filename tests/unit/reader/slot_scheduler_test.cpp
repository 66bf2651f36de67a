#include "reader/slot_scheduler.hpp"

#include <feedline/error.hpp>

#include "support/checks/catch.hpp"
#include "support/devices/recording_device.hpp"
#include "support/devices/stages.hpp"

#include <algorithm>
#include <exception>
#include <future>
#include <latch>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

using namespace feedline;
using namespace feedline::detail;
using feedline::test::make_identity_dataset;
using feedline::test::recording_device;
using feedline::test::stages;

namespace {

/// Batches of 4 samples of 16 bytes, 3 batches a slot; requests of 5 samples: 3 a slot.
const loader_options small{
    .batch_size = 4,
    .expert = {
        .batches_per_slot = 3, .request_bytes = 5 * 16, .staging_slots = 2, .device_slots = 2}};

struct opening {
  explicit opening(std::uint64_t samples = 96, std::uint64_t epochs = 1)
      : parts{device, make_identity_dataset(samples, 8), small},
        schedule{parts.plan.batches_per_epoch, epochs},
        under_test{parts.slots, schedule, *parts.staging} {}

  /// Gives the next slot in line back, once it is filled.
  void recycle_next() { parts.staging->recycle(parts.staging->next_filled().value()); }
  slot_work& work(const request& of) { return (*parts.staging)[slot_index{of.slot}].work; }

  std::shared_ptr<recording_device> device = std::make_shared<recording_device>();
  stages parts;
  epoch_schedule schedule;
  slot_scheduler under_test;
};

}  // namespace

TEST_CASE("slot scheduler: a ticket becomes the requests that cover its slot, in order",
          "[reader][host]") {
  opening on;
  REQUIRE(on.parts.plan.request_samples == 4);
  for (std::uint64_t ticket = 0; ticket < 2; ++ticket) {
    for (std::uint32_t number = 0; number < 3; ++number) {
      const auto request = on.under_test.next();
      REQUIRE(request);
      CHECK(request->number == number);
      const slot_work& work = on.work(*request);
      CHECK(work.ticket.value == ticket);
      CHECK(work.first.value == ticket * 12);
      CHECK(work.first_batch == ticket * 3);
      CHECK(work.samples == 12);
      CHECK(work.batches == 3);
      CHECK(work.requests() == 3);
      CHECK(work.pass->epoch == 0);
    }
  }
}

TEST_CASE(
    "slot scheduler: the last ticket of an epoch has no more requests and batches than it needs",
    "[reader][host]") {
  opening on{18};  // batches of 4 4 4 | 4 2
  for (int i = 0; i < 3; ++i) (void)on.under_test.next();
  const auto first = on.under_test.next();
  const auto second = on.under_test.next();
  REQUIRE(second);
  CHECK(second->number == 1);
  CHECK(on.work(*first).samples == 6);
  CHECK(on.work(*first).batches == 2);
  CHECK(on.work(*first).requests() == 2);
}

TEST_CASE("slot scheduler: the next epoch's first ticket follows the last of this one",
          "[reader][host]") {
  opening on{12, 2};
  const auto run = on.schedule.claim(0);  // lets epoch 1 be read ahead
  for (int i = 0; i < 3; ++i) CHECK(on.work(on.under_test.next().value()).pass->epoch == 0);
  for (int i = 0; i < 3; ++i) CHECK(on.work(on.under_test.next().value()).pass->epoch == 1);
}

TEST_CASE(
    "slot scheduler: no ticket is opened without a slot, and the next one is when a slot is free",
    "[reader][host]") {
  opening on;
  std::vector<request> taken;
  for (int i = 0; i < 6; ++i) taken.push_back(on.under_test.next().value());
  auto waiting = std::async(std::launch::async, [&] { return on.under_test.next(); });
  for (int i = 0; i < 3; ++i) on.parts.staging->finish_request(slot_index{taken[0].slot});
  on.recycle_next();
  const auto request = waiting.get();
  REQUIRE(request);
  CHECK(request->slot == taken[0].slot);
  CHECK(on.work(*request).ticket.value == 2);
}

TEST_CASE("slot scheduler: many readers take every request of every ticket once",
          "[reader][host]") {
  const int readers = GENERATE(1, 2, 5);
  constexpr std::uint64_t samples = 12 * 400;
  opening on{samples};
  std::mutex mutex;
  std::vector<std::pair<std::uint64_t, std::uint32_t>> seen;  // ticket, request
  std::vector<std::thread> threads;
  for (int i = 0; i < readers; ++i) {
    threads.emplace_back([&] {
      while (const auto request = on.under_test.next()) {
        {
          const std::scoped_lock lock{mutex};
          seen.emplace_back(on.work(*request).ticket.value, request->number);
        }
        on.parts.staging->finish_request(slot_index{request->slot});
      }
    });
  }
  for (std::uint64_t ticket = 0; ticket < 400; ++ticket) on.recycle_next();
  on.under_test.close();
  for (auto& thread : threads) thread.join();
  std::sort(seen.begin(), seen.end());
  std::vector<std::pair<std::uint64_t, std::uint32_t>> all;
  for (std::uint64_t ticket = 0; ticket < 400; ++ticket)
    for (std::uint32_t number = 0; number < 3; ++number) all.emplace_back(ticket, number);
  CHECK(seen == all);
}

TEST_CASE(
    "slot scheduler: once the schedule is closed, offered requests are still taken, then nothing",
    "[reader][host]") {
  opening on;
  const auto first = on.under_test.next();
  on.schedule.close();
  CHECK(on.under_test.next().has_value());
  CHECK(on.under_test.next().has_value());
  CHECK_FALSE(on.under_test.next().has_value());
  CHECK_FALSE(on.under_test.next().has_value());
  // The transfer gets the slot in line, and learns that nothing comes after.
  for (int i = 0; i < 3; ++i) on.parts.staging->finish_request(slot_index{first->slot});
  CHECK(on.parts.staging->next_filled() == slot_index{first->slot});
  CHECK_FALSE(on.parts.staging->next_filled().has_value());
}

TEST_CASE("slot scheduler: closing ends every reader, whatever it waits for", "[reader][host]") {
  constexpr int readers = 3;
  const auto all_end = [](opening& on) {
    std::vector<std::future<std::optional<request>>> waiting;
    std::latch started{readers};
    for (int i = 0; i < readers; ++i) {
      waiting.push_back(std::async(std::launch::async, [&] {
        started.count_down();
        return on.under_test.next();
      }));
    }
    started.wait();
    on.under_test.close();
    for (auto& each : waiting) CHECK_FALSE(each.get().has_value());
  };
  for (int round = 0; round < 50; ++round) {
    opening without_epochs{96, 0};
    all_end(without_epochs);
    opening without_slots;
    for (int i = 0; i < 6; ++i) (void)without_slots.under_test.next();
    all_end(without_slots);
  }
}

TEST_CASE("slot scheduler: an unavailable slot is the staging stage's failure, for good",
          "[reader][host]") {
  opening on;
  std::vector<request> taken;
  for (int i = 0; i < 6; ++i) taken.push_back(on.under_test.next().value());
  for (int i = 0; i < 3; ++i) on.parts.staging->finish_request(slot_index{taken[0].slot});
  on.parts.staging->recycle_after_copy(on.parts.staging->next_filled().value());
  on.device->on_is_done = [](event_handle) -> bool { throw device_error{"the copy failed"}; };
  CHECK_FALSE(on.under_test.next().has_value());
  CHECK_FALSE(on.under_test.next().has_value());  // another reader, that was busy filling

  // The slot opened before is delivered, then comes the failure.
  for (int i = 3; i < 6; ++i) on.parts.staging->finish_request(slot_index{taken[3].slot});
  CHECK(on.parts.staging->next_filled() == slot_index{taken[3].slot});
  CHECK_FALSE(on.parts.staging->next_filled().has_value());
  const auto why = on.parts.staging->opening_failure();
  REQUIRE(why);
  CHECK(why->where.stage == stage::staging);
  CHECK(why->where.ticket == 2);
  CHECK(why->where.batch == 6);
  CHECK_THROWS_AS(std::rethrow_exception(why->cause), device_error);
}
