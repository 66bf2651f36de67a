/// How many batches the slot scheduler gives to the tickets of an epoch, by a clock that the test
/// sets.

#include "reader/slot_scheduler.hpp"
#include "support/checks/catch.hpp"
#include "support/devices/recording_device.hpp"
#include "support/devices/scripted_device.hpp"
#include "support/devices/stages.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <future>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

using namespace feedline;
using namespace feedline::detail;
using namespace std::chrono_literals;
using feedline::test::make_identity_dataset;
using feedline::test::recording_device;
using feedline::test::scripted_device;
using feedline::test::stages;

namespace {

/// Batches of 4 samples; requests of one batch.
loader_options batches_of_four(std::uint64_t batches_per_slot = 0) {
  return {.batch_size = 4,
          .expert = {.batches_per_slot = batches_per_slot,
                     .request_bytes = 4 * 16,
                     .staging_slots = 2,
                     .device_slots = 2}};
}

/// One reader, which takes as long for a request as the test says.
struct growing {
  explicit growing(std::uint64_t batches, const loader_options& options = batches_of_four(),
                   std::shared_ptr<const device_row_cache> cached = nullptr)
      : parts{std::make_shared<recording_device>(), make_identity_dataset(batches * 4, 8), options},
        schedule{parts.plan.batches_per_epoch, 0},
        under_test{parts.slots, schedule, *parts.staging, std::move(cached), [this] {
                     const std::chrono::steady_clock::time_point now{time.load()};
                     asked.fetch_add(1);  // after the load: the waiting thread sets the time
                     asked.notify_all();
                     return now;
                   }} {}

  /// Takes all requests of the next ticket; hands its slot back. Its batches.
  std::uint64_t slot(std::chrono::nanoseconds a_request) {
    const auto first = under_test.next().value();
    const slot_work work = (*parts.staging)[slot_index{first.slot}].work;
    CHECK(work.first_batch == batches_before);
    batches_before += work.batches;
    for (std::uint32_t i = 1; i < work.requests(); ++i) (void)under_test.next();
    time.store(time.load() + work.requests() * a_request);
    for (std::uint32_t i = 0; i < work.requests(); ++i)
      parts.staging->finish_request(slot_index{first.slot});
    parts.staging->recycle(parts.staging->next_filled().value());
    return work.batches;
  }
  std::vector<std::uint64_t> slots(int count, std::chrono::nanoseconds a_request) {
    std::vector<std::uint64_t> batches;
    for (int i = 0; i < count; ++i) batches.push_back(slot(a_request));
    return batches;
  }
  std::shared_ptr<epoch_pass> begin(std::uint64_t epoch) {
    batches_before = 0;
    return schedule.claim(epoch);
  }

  stages parts;
  epoch_schedule schedule;
  std::atomic<std::chrono::nanoseconds> time{0ns};
  std::atomic<int> asked{0};
  std::uint64_t batches_before = 0;
  slot_scheduler under_test;
};

using list = std::vector<std::uint64_t>;

}  // namespace

TEST_CASE("slot scheduler: slots grow while readers take them quickly, up to the room available",
          "[reader][host]") {
  growing on{24};
  REQUIRE(on.parts.plan.batches_per_slot == 6);
  const auto run = on.begin(0);
  CHECK(on.slots(6, 1us) == list{1, 2, 4, 6, 6, 5});  // the last has the rest
}

TEST_CASE("slot scheduler: slots of slow readers have one batch each", "[reader][host]") {
  growing on{24};
  const auto run = on.begin(0);
  CHECK(on.slots(5, 20ms) == list{1, 1, 1, 1, 1});
}

TEST_CASE("slot scheduler: a number of batches that the user gave is that of every slot",
          "[reader][host]") {
  growing on{24, batches_of_four(5)};
  const auto run = on.begin(0);
  CHECK(on.slots(5, GENERATE(1us, 20ms)) == list{5, 5, 5, 5, 4});
}

TEST_CASE("slot scheduler: if no row needs reading slots are full from the first",
          "[reader][host]") {
  const auto cached = std::make_shared<device_row_cache>(std::make_shared<scripted_device>(),
                                                         std::vector<std::size_t>{16}, 1, 1);
  growing on{24, batches_of_four(), cached};
  const auto run = on.begin(0);
  CHECK(on.slot(1us) == 1);
  cached->hold(0);
  CHECK(on.slot(1us) == 6);
}

TEST_CASE("slot scheduler: an epoch that follows at once keeps the size that was reached",
          "[reader][host]") {
  growing on{24};
  const auto first = on.begin(0);
  const auto second = on.schedule.claim(1);
  CHECK(on.slots(6, 1us) == list{1, 2, 4, 6, 6, 5});
  on.batches_before = 0;
  CHECK(on.slots(2, 1us) == list{6, 6});
}

TEST_CASE("slot scheduler: after an epoch that ended or was left one batch comes first",
          "[reader][host]") {
  growing on{24};
  const auto first = on.begin(0);
  const int before = GENERATE(3, 6);
  CHECK(on.slots(before, 1us).size() == static_cast<std::size_t>(before));
  on.schedule.end(first);
  const auto second = on.begin(1);
  CHECK(on.slots(3, 1us) == list{1, before == 3 ? 4U : 6U, 6});
}

TEST_CASE("slot scheduler: the time of an abandoned ticket is not learned from", "[reader][host]") {
  growing on{24};
  const auto first = on.begin(0);
  CHECK(on.slots(2, 20ms) == list{1, 1});
  first->abandoned.store(true);  // like `claim` for an epoch read ahead
  on.time.store(0ns);            // it is not read, so it is taken in no time
  CHECK(on.slot(0us) == 1);
  const auto second = on.schedule.claim(1);
  CHECK(on.schedule.begin(second));
  on.batches_before = 0;
  CHECK(on.slots(2, 2ms) == list{1, 1});
}

TEST_CASE("slot scheduler: waiting for a free slot does not count as slow readers",
          "[reader][host]") {
  growing on{24};
  const auto run = on.begin(0);
  const auto first = on.under_test.next().value();
  const auto second = on.under_test.next().value();
  REQUIRE(first.slot != second.slot);
  (void)on.under_test.next();
  const int asked = on.asked.load();
  auto waiting = std::async(std::launch::async, [&] { return on.under_test.next(); });
  on.asked.wait(asked);  // the slot scheduler knows by now what the readers took
  on.time.store(1h);     // a slow consumer
  on.parts.staging->finish_request(slot_index{first.slot});
  on.parts.staging->recycle(on.parts.staging->next_filled().value());
  const auto third = waiting.get().value();
  CHECK((*on.parts.staging)[slot_index{second.slot}].work.batches == 2);
  CHECK((*on.parts.staging)[slot_index{third.slot}].work.batches == 4);
}
