/// Ends: stop, destruction in every state, batches and ranges that outlive what made them.

#include <feedline/device/host_device.hpp>
#include <feedline/loader/loader.hpp>
#include <feedline/sampler/sequential.hpp>

#include "detail/threads.hpp"
#include "device/deferred_free.hpp"
#include "support/checks/catch.hpp"
#include "support/checks/recorder.hpp"
#include "support/datasets/gated_dataset.hpp"
#include "support/datasets/identity_dataset.hpp"
#include "support/devices/data_paths.hpp"
#include "support/devices/scripted_device.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <future>
#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

using namespace feedline;
using namespace feedline::test;

namespace {

/// A dataset whose reads block until the gate opens.
struct blocked_dataset {
  std::promise<void> gate;
  std::promise<void> reached;
  std::atomic<bool> first{true};
  dataset_ptr data =
      gated(make_identity_rows(256, 8), [this, open = gate.get_future().share()](auto) {
        if (first.exchange(false)) reached.set_value();
        open.wait();
      });
};

/// State after a loader was destroyed while work on its device slots was held until after its end.
struct outcome {
  data_path through;
  int readers;
  bool outlived;
  int batches = 0;                    ///< batches delivered before
  std::size_t kept_device_bytes = 0;  ///< while the work is held
  std::size_t device_bytes = 0;       ///< once it is done, and so are the others
  std::size_t staging_bytes = 0;
  std::size_t handles = 0;
  std::uint64_t freed_in_use = 0;
};

/// @param outlived A batch is the last to hold the memory.
outcome destroy_behind_work(data_path through, int readers, bool outlived) {
  outcome left{through, readers, outlived};
  const path_setup by{through};
  const scripted& on = by.on;
  {
    std::optional<loader> destroyed{
        by.load(make_identity_rows(256, 8), sequential{},
                {.batch_size = 8,
                 .readers = readers,
                 .expert = {.batches_per_slot = 1, .staging_slots = 2, .device_slots = 2}})};
    on.device->hold_work();
    auto range = destroyed->epoch(0, by.stream);
    std::optional<batch> kept;
    for (int i = 0; i < 2; ++i) {
      kept = range.next();
      if (kept) ++left.batches;
      on.device->launch(by.stream, [] {});
    }
    if (!outlived) kept.reset();
    // The copies into both slots wait for the work, and the slot scheduler waits for one of them.
    if (readers != 0) on.device->wait_for_issued_copies(outlived ? 3 : 4);
    destroyed.reset();
    kept.reset();
  }
  left.kept_device_bytes = on.device->allocated_bytes(memory_kind::device);
  on.device->allow_all_work();
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds{20};
  detail::poll_until([&] {
    detail::free_deferred();
    left.device_bytes = on.device->allocated_bytes(memory_kind::device);
    left.staging_bytes = on.device->allocated_bytes(memory_kind::staging);
    left.handles = on.device->handles();
    return (left.device_bytes == 0 && left.staging_bytes == 0 && left.handles == 1) ||
           std::chrono::steady_clock::now() > until;
  });
  left.freed_in_use = on.device->freed_in_use();
  return left;
}

}  // namespace

TEST_CASE(
    "stop: ends the range at its next step, which is no error, and every later epoch is empty",
    "[loader][host]") {
  const path_setup by{GENERATE(from_range(all_data_paths()))};
  const int readers = GENERATE(0, 2);
  CAPTURE(to_string(by.through), readers);
  loader loader =
      by.load(make_identity_rows(256, 8), sequential{}, {.batch_size = 8, .readers = readers});
  auto range = loader.epoch(0, by.stream);
  REQUIRE(range.next());
  loader.stop();
  CHECK(!range.next());
  CHECK(!loader.epoch(1, by.stream).next());
}

TEST_CASE("stop: from another thread wakes a consumer that waits for a batch", "[loader][host]") {
  const path_setup by{GENERATE(from_range(first_reading_data_paths()))};
  CAPTURE(to_string(by.through));
  blocked_dataset blocked;
  loader loader = by.load(blocked.data, sequential{}, {.batch_size = 8, .readers = 2});
  auto range = loader.epoch(0, by.stream);
  std::thread stopper{[&] {
    blocked.reached.get_future().wait();  // the consumer has nothing to take until the gate opens
    loader.stop();
  }};
  CHECK(!range.next());
  stopper.join();
  blocked.gate.set_value();
}

TEST_CASE("destruction: does not wait for work of the consumer's that waits for this thread",
          "[loader][host]") {
  // Each case waits for a second or two until it is set aside: all of them at once.
  std::vector<std::future<outcome>> cases;
  for (const data_path through : {data_path::stream, data_path::transformed, data_path::resident}) {
    for (const int readers : {0, 2}) {
      for (const bool outlived : {false, true})
        cases.push_back(
            std::async(std::launch::async, destroy_behind_work, through, readers, outlived));
    }
  }
  for (auto& each : cases) {
    const outcome left = each.get();
    CAPTURE(to_string(left.through), left.readers, left.outlived);
    CHECK(left.batches == 2);
    CHECK(left.kept_device_bytes != 0);
    CHECK(left.device_bytes == 0);
    CHECK(left.staging_bytes == 0);
    CHECK(left.handles == 1);  // the consumer's stream
    CHECK(left.freed_in_use == 0);
  }
}

TEST_CASE("destruction: a loader that was never used ends, with epochs read ahead or not",
          "[loader][host]") {
  const path_setup by{GENERATE(from_range(all_data_paths()))};
  const std::uint64_t epochs = GENERATE(0U, 3U);
  const int readers = GENERATE(int{automatic_readers}, 0, 1, 4);
  CAPTURE(to_string(by.through), epochs, readers);
  const loader loader = by.load(make_identity_rows(256, 8), sequential{},
                                {.batch_size = 8, .epochs = epochs, .readers = readers});
  CHECK(loader.plan().batches_per_epoch == 32);
}

TEST_CASE("destruction: waits for a read in progress, and for no more than that",
          "[loader][host]") {
  const path_setup by{GENERATE(from_range(first_reading_data_paths()))};
  CAPTURE(to_string(by.through));
  blocked_dataset blocked;
  std::optional<loader> loader{
      by.load(blocked.data, sequential{}, {.batch_size = 8, .readers = 3})};
  auto range = loader->epoch(0, by.stream);
  blocked.reached.get_future().wait();
  std::thread opener{[&] { blocked.gate.set_value(); }};
  loader.reset();
  opener.join();
  CHECK(!range.next());
}

TEST_CASE("destruction: with a full ring, and after any number of batches", "[loader][host]") {
  const path_setup by{GENERATE(from_range(all_data_paths()))};
  const std::uint64_t taken = GENERATE(0U, 1U, 2U, 5U, 31U, 32U);
  const int readers = GENERATE(0, 2);
  CAPTURE(to_string(by.through), taken, readers);
  loader loader = by.load(
      make_identity_rows(256, 8), sequential{},
      {.batch_size = 8, .epochs = 2, .readers = readers, .expert = {.batches_per_slot = 2}});
  auto range = loader.epoch(0, by.stream);
  for (std::uint64_t i = 0; i < taken; ++i) REQUIRE(range.next());
}

TEST_CASE("destruction: a batch outlives its range and its loader, and its bytes stay",
          "[batch][host]") {
  const int readers = GENERATE(0, 2);
  std::optional<batch> kept;
  {
    loader loader{make_identity_dataset(256, 8),
                  sequential{},
                  make_host_device(),
                  {.batch_size = 8, .readers = readers}};
    auto range = loader.epoch(0);
    for (int i = 0; i < 3; ++i) kept = range.next();
  }
  REQUIRE(kept);
  const auto seen = look_at(*kept);
  CHECK(seen.intact);
  CHECK(seen.samples.front() == 16);
  CHECK(kept->samples().front().value == 16);
}

TEST_CASE(
    "destruction: memory of a leased batch is freed only when the consumer's work on it is done",
    "[batch][host]") {
  const data_path through =
      GENERATE(data_path::stream, data_path::transformed, data_path::gather, data_path::resident,
               data_path::cached_half, data_path::decoded);
  CAPTURE(to_string(through));
  const path_setup by{through};
  const scripted on = by.on;
  recorder record{on};
  std::optional<batch> kept;
  {
    loader loader =
        by.load(make_identity_rows(256, 8), sequential{}, {.batch_size = 8, .readers = 2});
    auto range = loader.epoch(0, on.stream);
    kept = range.next();
  }
  REQUIRE(kept);
  CHECK(on.device->allocated_bytes(memory_kind::device) > 0);
  on.device->hold_work();
  record(*kept);
  std::thread ender{[&] { kept.reset(); }};  // blocks in freeing until the work is done
  on.device->allow_all_work();
  ender.join();
  CHECK(on.device->allocated_bytes(memory_kind::device) == 0);
  CHECK(on.device->allocated_bytes(memory_kind::staging) == 0);
  CHECK(on.device->freed_in_use() == 0);
  const auto seen = record.seen();
  REQUIRE(seen.size() == 1);
  CHECK(seen[0].intact);
}

TEST_CASE("destruction: with copies held open waits for them before any memory is freed",
          "[staging][host]") {
  const data_path through =
      GENERATE(data_path::stream, data_path::transformed, data_path::gather, data_path::resident,
               data_path::cached_half, data_path::decoded);
  CAPTURE(to_string(through));
  const path_setup by{through};
  const scripted on = by.on;
  on.device->hold_copies();
  std::promise<void> destroyed;
  std::thread owner{[&] {
    {
      const loader loader =
          by.load(make_identity_rows(256, 8), sequential{},
                  {.batch_size = 8, .epochs = 1, .readers = 2, .expert = {.batches_per_slot = 1}});
      on.device->wait_for_started_copies(1);
    }
    destroyed.set_value();
  }};
  on.device->wait_for_started_copies(1);
  CHECK(on.device->allocated_bytes(memory_kind::staging) > 0);
  on.device->allow_all_copies();
  owner.join();
  destroyed.get_future().wait();
  CHECK(on.device->allocated_bytes(memory_kind::staging) == 0);
  CHECK(on.device->freed_in_use() == 0);
  CHECK(on.device->mappings() == 0);
  CHECK(on.device->handles() == 1);  // the consumer's stream
}

TEST_CASE("batch: may be destroyed on another thread than the one that took it", "[batch][host]") {
  loader loader{
      make_identity_dataset(512, 8),
      sequential{},
      make_host_device(),
      {.batch_size = 8, .readers = 2, .expert = {.batches_per_slot = 2, .staging_slots = 4}}};
  auto range = loader.epoch(0);
  std::uint64_t count = 0;
  while (auto batch = range.next()) {
    ++count;
    std::thread{[taken = std::move(batch)]() mutable { taken.reset(); }}.join();
  }
  CHECK(count == 64);
}

TEST_CASE("batch: one that is held long does not keep the others from going round",
          "[batch][host]") {
  const data_path through =
      GENERATE(data_path::stream, data_path::transformed, data_path::gather, data_path::resident,
               data_path::cached_half, data_path::decoded);
  CAPTURE(to_string(through));
  const path_setup by{through};
  recorder record{by.looks()};
  loader loader =
      by.load(make_identity_rows(512, 8), sequential{},
              {.batch_size = 8,
               .readers = 2,
               .expert = {.batches_per_slot = 1, .staging_slots = 2, .device_slots = 2}});
  auto range = loader.epoch(0, by.stream);
  const std::optional<batch> held = range.next();
  REQUIRE(held);
  while (auto batch = range.next()) record(*batch);
  record(*held);
  const auto seen = record.seen();
  CHECK(seen.size() == 64);
  CHECK(all_intact(seen));
  CHECK(seen.back().samples.front() == 0);
}

TEST_CASE("loader: can be moved while it reads ahead", "[loader][host]") {
  loader first{make_identity_dataset(64, 8),
               sequential{},
               make_host_device(),
               {.batch_size = 8, .epochs = 1, .readers = 2}};
  loader second{std::move(first)};
  std::uint64_t count = 0;
  for (batch& batch : second.epoch(0)) count += batch.size();
  CHECK(count == 64);
}
