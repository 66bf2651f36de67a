/// The two edges that loaders ship bugs in, and the one between them: no slot is written while it
/// is read, none is read while it is written; and if slots are assembled, the same holds for copy
/// destinations. Each edge is proved by holding the copy, the assembly or the consumer open, and
/// each proof is tested itself by a device that forgets the edge.

#include <feedline/loader/loader.hpp>
#include <feedline/sampler/sequential.hpp>

#include "support/checks/catch.hpp"
#include "support/checks/recorder.hpp"
#include "support/checks/sanitized.hpp"
#include "support/datasets/gated_dataset.hpp"
#include "support/datasets/identity_dataset.hpp"
#include "support/devices/data_paths.hpp"
#include "support/devices/forgetful_device.hpp"
#include "support/devices/scripted_device.hpp"

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
          .expert = {.batches_per_slot = 1, .staging_slots = 2, .device_slots = 2}};
}

/// Consumes an epoch of ten slots while the consumer's work is held; what the work saw once it was
/// released.
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

/// Three staging slots, two copy destinations and two device slots of one batch each, with the
/// given path.
struct assembling {
  explicit assembling(data_path through, forgotten edge) : by{through} {
    by.device = std::make_shared<forgetful_device>(by.on.device, by.on.stream, edge);
  }
  loader load(std::uint64_t batches) const {
    loader_options options = one_batch_slots(2);
    options.expert.staging_slots = 3;
    return by.load(make_identity_rows(batches * batch_size, 16), sequential{}, options);
  }
  scripted_device& device() const { return *by.on.device; }

  path_setup by;
};

/// The same as with copies: the consumer's work is held, and the third and fourth assembly go into
/// the slots that it is to read.
std::vector<seen_batch> assemble_with_held_work(data_path through, forgotten edge) {
  const assembling on{through, edge};
  recorder record{on.by.looks()};
  loader loader = on.load(10);
  auto range = loader.epoch(0, on.by.stream);
  on.device().hold_work();
  for (int i = 0; i < 2; ++i) {
    auto batch = range.next();
    REQUIRE(batch);
    record(*batch);
  }
  on.device().wait_for_issued_copies(4);
  if (edge == forgotten::copy_waits_for_consumer) on.device().wait_for_started_assemblies(4);
  on.device().allow_all_work();
  while (auto batch = range.next()) record(*batch);
  return record.seen();
}

/// Every assembly is held until its batch was taken and the look at it issued.
std::vector<seen_batch> take_with_held_assemblies(data_path through, forgotten edge) {
  const assembling on{through, edge};
  recorder record{on.by.looks()};
  loader loader = on.load(4);
  on.device().hold_assemblies();
  auto range = loader.epoch(0, on.by.stream);
  for (std::uint64_t i = 0; i < 4; ++i) {
    auto batch = range.next();  // is there as soon as its assembly is issued
    REQUIRE(batch);
    record(*batch);
    on.device().wait_for_started_assemblies(i + 1);
    if (edge == forgotten::consumer_waits_for_copy) on.device().drain(on.by.stream);
    on.device().allow_assemblies(1);
  }
  return record.seen();
}

/// Every copy is held until its batch was taken and the look at it issued.
std::vector<seen_batch> assemble_with_held_copies(data_path through) {
  const assembling on{through, forgotten::nothing};
  recorder record{on.by.looks()};
  loader loader = on.load(4);
  on.device().hold_copies();
  auto range = loader.epoch(0, on.by.stream);
  for (std::uint64_t i = 0; i < 4; ++i) {
    auto batch = range.next();
    REQUIRE(batch);
    record(*batch);
    on.device().wait_for_started_copies(i + 1);  // the copy destination is poisoned
    on.device().allow_copies(1);
  }
  return record.seen();
}

/// Holds the first assemblies open until both copy destinations could have been overwritten.
std::vector<seen_batch> copy_with_held_assemblies(data_path through) {
  const assembling on{through, forgotten::nothing};
  recorder record{on.by.looks()};
  on.device().hold_assemblies();
  loader loader = on.load(8);
  auto range = loader.epoch(0, on.by.stream);
  for (int i = 0; i < 2; ++i) {
    auto batch = range.next();
    REQUIRE(batch);
    record(*batch);
  }  // both device slots are free again: the third and fourth slot follow, into the same copy
     // destinations
  on.device().wait_for_issued_copies(4);
  on.device().allow_all_assemblies();
  while (auto batch = range.next()) record(*batch);
  return record.seen();
}

/// The same eight samples in each slot: what the first one keeps, the others read.
struct same_again {
  std::uint64_t size(std::uint64_t samples) const { return 4 * samples; }
  void indices(std::uint64_t samples, std::uint64_t, position first,
               std::span<sample_index> out) const {
    for (std::uint64_t i = 0; i < out.size(); ++i)
      out[i] = sample_index{(first.value + i) % samples};
  }
};

/// The assembly that keeps rows is held until the one that reads them could run, which then goes
/// first if it may.
std::vector<seen_batch> read_rows_while_they_are_kept(forgotten edge) {
  const assembling on{data_path::resident, edge};
  recorder record{on.by.looks()};
  loader loader = on.by.load(make_identity_rows(batch_size, 16), same_again{}, one_batch_slots(0));
  on.device().hold_assemblies();
  auto range = loader.epoch(0, on.by.stream);
  for (int i = 0; i < 2;
       ++i) {  // nothing is read ahead: the second slot knows what the first keeps
    auto batch = range.next();
    REQUIRE(batch);
    record(*batch);
  }
  on.device().wait_for_completed_copies(2);
  if (edge == forgotten::assembly_waits_for_rows) on.device().wait_for_started_assemblies(2);
  on.device().favour_young_streams();
  on.device().allow_all_assemblies();
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

TEST_CASE("device ring: a slot is assembled again only after the consumer's work on it is done",
          "[device][host]") {
  const data_path through = GENERATE(from_range(assembled_data_paths()));
  CAPTURE(to_string(through));
  const auto seen = assemble_with_held_work(through, forgotten::nothing);
  CHECK(seen.size() == 10);
  CHECK(in_order_and_intact(seen));
}

TEST_CASE("device ring: work on a slot does not start before it is assembled", "[batch][host]") {
  const data_path through = GENERATE(from_range(slotwise_data_paths()));
  CAPTURE(to_string(through));
  const auto seen = take_with_held_assemblies(through, forgotten::nothing);
  CHECK(seen.size() == 4);
  CHECK(in_order_and_intact(seen));
}

TEST_CASE("assembling transfer: a slot is assembled only after its copy has arrived",
          "[transfer][host]") {
  const data_path through = GENERATE(from_range(slotwise_data_paths()));
  CAPTURE(to_string(through));
  const auto seen = assemble_with_held_copies(through);
  CHECK(seen.size() == 4);
  CHECK(in_order_and_intact(seen));
}

TEST_CASE(
    "assembling transfer: a copy destination is overwritten only after the assembly that reads it "
    "is done",
    "[transfer][host]") {
  const data_path through = GENERATE(from_range(slotwise_data_paths()));
  CAPTURE(to_string(through));
  const auto seen = copy_with_held_assemblies(through);
  CHECK(seen.size() == 8);
  CHECK(in_order_and_intact(seen));
}

TEST_CASE(
    "assembling transfer: rows that one slot keeps are not read by the next before they are there",
    "[transfer][host]") {
  const auto seen = read_rows_while_they_are_kept(forgotten::nothing);
  CHECK(seen.size() == 4);
  CHECK(all_intact(seen));
}

TEST_CASE("mutant: a copy that does not wait for the consumer is caught", "[device][host]") {
  CHECK(!in_order_and_intact(consume_with_held_work(forgotten::copy_waits_for_consumer)));
}

TEST_CASE("mutant: a consumer that does not wait for the copy is caught", "[batch][host]") {
  CHECK(!in_order_and_intact(consume_with_held_copies(forgotten::consumer_waits_for_copy)));
}

TEST_CASE("mutant: an assembly that does not wait for the consumer is caught", "[device][host]") {
  const data_path through = GENERATE(from_range(assembled_data_paths()));
  CAPTURE(to_string(through));
  CHECK(!in_order_and_intact(assemble_with_held_work(through, forgotten::copy_waits_for_consumer)));
}

TEST_CASE("mutant: a consumer that does not wait for the assembly is caught", "[batch][host]") {
  const data_path through = GENERATE(from_range(slotwise_data_paths()));
  CAPTURE(to_string(through));
  CHECK(
      !in_order_and_intact(take_with_held_assemblies(through, forgotten::consumer_waits_for_copy)));
}

TEST_CASE("mutant: an assembly that does not wait for the rows that it reads is caught",
          "[transfer][host]") {
  CHECK(!all_intact(read_rows_while_they_are_kept(forgotten::assembly_waits_for_rows)));
}

TEST_CASE("mutant: a reader that does not wait for the copy is caught", "[staging][host]") {
  if (thread_sanitized) FEEDLINE_SKIP("the mutant is a data race, as ThreadSanitizer says");
  CHECK(!in_order_and_intact(consume_with_slow_copies(forgotten::reader_waits_for_copy)));
}

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
