/// The two edges that loaders ship bugs in, and the one between them: nobody writes a slot that is
/// still read, nobody reads one that is still written. Each is proved by holding the copy or the
/// consumer open, and each proof is itself put to the test by a device that forgets the edge.

#include <feedline/loader/loader.hpp>
#include <feedline/sampler/sequential.hpp>

#include "support/catch.hpp"
#include "support/forgetful_device.hpp"
#include "support/gated_dataset.hpp"
#include "support/identity_dataset.hpp"
#include "support/recorder.hpp"
#include "support/scripted_device.hpp"

#include <cstdint>
#include <future>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

using namespace feedline;
using namespace feedline::test;

namespace {

constexpr std::uint64_t batch_size = 8;

loader_options one_batch_slots(int readers) {
  return {.batch_size = batch_size,
          .readers = readers,
          .batches_per_slot = 1,
          .staging_slots = 2,
          .device_slots = 2};
}

/// Consumes an epoch of ten slots while the consumer's work is held; what the work saw once it was
/// let go.
std::vector<seen_batch> consume_with_held_work(forgotten edge) {
  const scripted on;
  const auto device = std::make_shared<forgetful_device>(on.device, on.stream, edge);
  recorder record{on};
  loader loader{make_identity_dataset(10 * batch_size, 16), sequential{}, device,
                one_batch_slots(2)};
  auto range = loader.epoch(0, on.stream);
  on.device->hold_work();
  for (int i = 0; i < 2; ++i) {
    auto batch = range.next();
    REQUIRE(batch);
    record(*batch);
  }  // both leases ended on the host, while the work on both slots is still to run
  // The third and fourth copies go into these slots. Correct ones are issued, and wait on the copy
  // stream; forgetful ones complete, and the work finds other samples than it was given.
  on.device->wait_for_issued_copies(4);
  if (edge == forgotten::copy_waits_for_consumer) on.device->wait_for_started_copies(4);
  on.device->allow_all_work();
  while (auto batch = range.next()) record(*batch);
  return record.seen();
}

/// Consumes an epoch of which every copy is held until its batch was taken and the look at it
/// issued.
std::vector<seen_batch> consume_with_held_copies(forgotten edge) {
  const scripted on;
  const auto device = std::make_shared<forgetful_device>(on.device, on.stream, edge);
  recorder record{on};
  loader loader{make_identity_dataset(4 * batch_size, 16), sequential{}, device,
                one_batch_slots(1)};
  on.device->hold_copies();
  auto range = loader.epoch(0, on.stream);
  for (std::uint64_t i = 0; i < 4; ++i) {
    auto batch = range.next();  // is there as soon as its copy is issued
    REQUIRE(batch);
    record(*batch);
    on.device->wait_for_started_copies(i + 1);
    if (edge == forgotten::consumer_waits_for_copy) on.device->drain(on.stream);
    on.device->allow_copies(1);
  }
  return record.seen();
}

/// Holds the first copies open until a reader has overwritten their staging slots, or could have.
std::vector<seen_batch> consume_with_slow_copies(forgotten edge) {
  const scripted on;
  const auto device = std::make_shared<forgetful_device>(on.device, on.stream, edge);
  recorder record{on};
  std::promise<void> third_slot_read;
  const auto data =
      gated(make_identity_dataset(8 * batch_size, 16), [&](std::span<const sample_index> samples) {
        if (samples.front().value == 3 * batch_size)
          third_slot_read.set_value();  // slot 2 was written before it
      });
  on.device->hold_copies();
  loader loader{data, sequential{}, device, one_batch_slots(1)};
  auto range = loader.epoch(0, on.stream);
  on.device->wait_for_issued_copies(2);
  if (edge == forgotten::reader_waits_for_copy) third_slot_read.get_future().wait();
  on.device->allow_all_copies();
  while (auto batch = range.next()) record(*batch);
  return record.seen();
}

}  // namespace

TEST_CASE("device ring: a slot is not overwritten before the consumer's work on it is done",
          "[device][host]") {
  const auto seen = consume_with_held_work(forgotten::nothing);
  CHECK(seen.size() == 10);
  CHECK(in_order_and_intact(seen));
}

TEST_CASE("device ring: work on a slot does not start before its copy is done", "[batch][host]") {
  const auto seen = consume_with_held_copies(forgotten::nothing);
  CHECK(seen.size() == 4);
  CHECK(in_order_and_intact(seen));
}

TEST_CASE("staging ring: a slot being copied is not handed to a reader", "[staging][host]") {
  const auto seen = consume_with_slow_copies(forgotten::nothing);
  CHECK(seen.size() == 8);
  CHECK(in_order_and_intact(seen));
}

TEST_CASE("mutant: a copy that does not wait for the consumer is caught", "[device][host]") {
  CHECK(!in_order_and_intact(consume_with_held_work(forgotten::copy_waits_for_consumer)));
}

TEST_CASE("mutant: a consumer that does not wait for the copy is caught", "[batch][host]") {
  CHECK(!in_order_and_intact(consume_with_held_copies(forgotten::consumer_waits_for_copy)));
}

#if !defined(__SANITIZE_THREAD__)  // the mutant is a data race, and ThreadSanitizer says so
TEST_CASE("mutant: a reader that does not wait for the copy is caught", "[staging][host]") {
  CHECK(!in_order_and_intact(consume_with_slow_copies(forgotten::reader_waits_for_copy)));
}
#endif

TEST_CASE("staging ring: no sample is read into a slot whose copy is held open",
          "[staging][host]") {
  const scripted on;
  std::atomic<std::uint64_t> read{0};
  const auto data = gated(make_identity_dataset(64 * batch_size, 16),
                          [&](std::span<const sample_index> samples) { read += samples.size(); });
  on.device->hold_copies();
  {
    loader loader{data, sequential{}, on.device, one_batch_slots(4)};
    auto range = loader.epoch(0, on.stream);
    on.device->wait_for_issued_copies(2);  // all staging slots are being copied
    std::optional<batch> first = range.next();
    first.reset();
    std::optional<batch> second =
        range.next();  // both device slots were taken: the consumer has nothing left to free
    second.reset();
    CHECK(read == 2 * batch_size);
    on.device->allow_copies(1);
    on.device->wait_for_issued_copies(3);
    CHECK(read == 3 * batch_size);
    on.device->allow_all_copies();
  }
}
