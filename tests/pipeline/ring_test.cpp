/// The promises of the rings: exact memory, fixed addresses, several readers in one slot,
/// back-pressure.

#include <feedline/device/host_device.hpp>
#include <feedline/loader/loader.hpp>
#include <feedline/sampler/sequential.hpp>

#include "support/checks/catch.hpp"
#include "support/checks/recorder.hpp"
#include "support/datasets/gated_dataset.hpp"
#include "support/datasets/identity_dataset.hpp"
#include "support/devices/data_paths.hpp"
#include "support/devices/scripted_device.hpp"

#include <atomic>
#include <barrier>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <vector>

using namespace feedline;
using namespace feedline::test;

TEST_CASE("rings: memory is exactly the plan's, and allocated once", "[staging][device][host]") {
  const scripted on;
  loader loader{make_identity_dataset(1000, 100),
                sequential{},
                on.device,
                {.batch_size = 16,
                 .readers = 3,
                 .expert = {.batches_per_slot = 3, .staging_slots = 3, .device_slots = 2}}};
  const auto& plan = loader.plan();
  // id: 16 × 8 = 128 → 256; row: 16 × 100 = 1600 → 1792
  CHECK(plan.batch_bytes == 256 + 1792);
  CHECK(plan.slot_bytes == 3 * plan.batch_bytes);
  CHECK(plan.staging_bytes == 3 * plan.slot_bytes);
  CHECK(plan.device_bytes == 2 * plan.slot_bytes);
  CHECK(on.device->allocated_bytes(memory_kind::staging) == plan.staging_bytes);
  CHECK(on.device->allocated_bytes(memory_kind::device) == plan.device_bytes);
  const auto allocations = on.device->allocations();
  CHECK(allocations == 2);
  for (std::uint64_t epoch = 0; epoch < 3; ++epoch) {
    for (batch& batch : loader.epoch(epoch, on.stream)) (void)batch;
  }
  CHECK(on.device->allocations() == allocations);
}

TEST_CASE(
    "rings: batches lie at addresses that never change, each field at a multiple of 256 bytes",
    "[device][host]") {
  const scripted on;
  loader loader{make_identity_dataset(640, 100),
                sequential{},
                on.device,
                {.batch_size = 16,
                 .readers = 2,
                 .expert = {.batches_per_slot = 2, .staging_slots = 2, .device_slots = 2}}};
  std::set<const std::byte*> addresses;
  for (std::uint64_t epoch = 0; epoch < 4; ++epoch) {
    for (batch& batch : loader.epoch(epoch, on.stream)) {
      addresses.insert(batch["row"].bytes().data());
      CHECK(reinterpret_cast<std::uintptr_t>(batch["row"].bytes().data()) % 256 == 0);
      CHECK(reinterpret_cast<std::uintptr_t>(batch["id"].bytes().data()) % 256 == 0);
    }
  }
  CHECK(addresses.size() == 4);
}

TEST_CASE("reader pool: several readers fill one slot at once", "[reader][host]") {
  // Four reads of one slot meet at a barrier: with fewer than four readers in the slot none of them
  // would continue.
  std::barrier meeting{4};
  const auto data = gated(make_identity_dataset(32, 8), [&](auto) { meeting.arrive_and_wait(); });
  loader loader{
      data,
      sequential{},
      make_host_device(),
      {.batch_size = 32, .readers = 4, .expert = {.batches_per_slot = 1, .request_bytes = 8 * 16}}};
  REQUIRE(loader.plan().request_samples == 8);
  recorder record;
  for (batch& batch : loader.epoch(0)) record(batch);
  CHECK(all_intact(record.seen()));
}

TEST_CASE("reader pool: a dataset that reads serially is never read by two threads at once",
          "[reader][host]") {
  std::atomic<int> inside{0};
  std::atomic<int> most{0};
  const auto data = gated(
      make_identity_dataset(2000, 8),
      [&](auto) {
        const int now = ++inside;
        int before = most.load();
        while (before < now && !most.compare_exchange_weak(before, now)) {
        }
        std::this_thread::yield();
        --inside;
      },
      read_concurrency::serialized);
  loader loader{
      data,
      sequential{},
      make_host_device(),
      {.batch_size = 8, .readers = 4, .expert = {.batches_per_slot = 4, .request_bytes = 64}}};
  recorder record;
  for (batch& batch : loader.epoch(0)) record(batch);
  CHECK(record.seen().size() == 250);
  CHECK(most == 1);
}

TEST_CASE("back-pressure: no more is read ahead than the rings hold", "[staging][host]") {
  const path_setup by{GENERATE(data_path::stream, data_path::transformed, data_path::cached_half,
                               data_path::resident)};
  CAPTURE(to_string(by.through));
  std::atomic<std::uint64_t> consumed{0};
  std::atomic<std::uint64_t> read{0};
  std::atomic<bool> ran_ahead{false};
  constexpr std::uint64_t batch_size = 8;
  constexpr std::uint64_t room = (3 + 2) * batch_size;  // staging and device slots
  const auto data =
      gated(make_identity_rows(100 * batch_size, 8), [&](std::span<const sample_index> samples) {
        // A batch that the consumer holds still has its slot; the one it is about to take may be
        // counted already.
        if ((read += samples.size()) > consumed.load() + room + batch_size) ran_ahead = true;
      });
  loader loader =
      by.load(data, sequential{},
              {.batch_size = batch_size,
               .readers = 3,
               .expert = {.batches_per_slot = 1, .staging_slots = 3, .device_slots = 2}});
  auto range = loader.epoch(0, by.stream);
  while (auto batch = range.next()) {
    batch.reset();
    consumed += batch_size;
  }
  CHECK(read == 100 * batch_size);
  CHECK(!ran_ahead);
}
