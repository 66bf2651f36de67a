/// Placements: the memory that they take and give back, and what they do when there is too little.

#include <feedline/error.hpp>
#include <feedline/loader/loader.hpp>
#include <feedline/sampler/sequential.hpp>
#include <feedline/sampler/shuffle.hpp>

#include "staging/device_row_cache.hpp"
#include "support/checks/catch.hpp"
#include "support/checks/log_capture.hpp"
#include "support/checks/message_of.hpp"
#include "support/checks/recorder.hpp"
#include "support/datasets/identity_dataset.hpp"
#include "support/devices/data_paths.hpp"
#include "support/devices/scripted_device.hpp"

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

using namespace feedline;
using namespace feedline::test;

namespace {

constexpr std::uint64_t sample_count = 331;
constexpr std::size_t row_bytes = 3'209;  // all rows together more than 1 MiB: a gather maps them
constexpr std::size_t sample_size = 8 + row_bytes + 1;

loader_options small_slots(int readers) {
  return {.batch_size = 16,
          .readers = readers,
          .expert = {.batches_per_slot = 2,
                     .request_bytes = 8 * sample_size,
                     .staging_slots = 3,
                     .device_slots = 2}};
}

/// Rows of 8, 3,209 and 1 bytes, 331 of each, each field aligned to 256.
constexpr std::size_t all_rows = 2'816 + 1'062'400 + 512;

loader automatic(const scripted& on, std::size_t budget) {
  return loader{make_identity_rows(sample_count, row_bytes), shuffle{.seed = 4}, on.device, [&] {
                  loader_options options = small_slots(2);
                  options.memory.cache = budget;
                  return options;
                }()};
}

std::vector<seen_batch> two_epochs(loader& from, const scripted& on) {
  recorder record{on};
  for (std::uint64_t epoch = 0; epoch < 2; ++epoch) {
    for (batch& batch : from.epoch(epoch, on.stream)) record(batch);
  }
  return record.seen();
}

}  // namespace

TEST_CASE("placement: memory is exactly the plan's, allocated once, and freed completely",
          "[device][host]") {
  const data_path through = GENERATE(from_range(all_data_paths()));
  if (through == data_path::in_place) return;
  const int readers = GENERATE(0, 2);
  CAPTURE(to_string(through), readers);
  const path_setup by{through};
  scripted_device& device = *by.on.device;
  const std::size_t handles = device.handles();
  {
    loader loader =
        by.load(make_identity_rows(sample_count, row_bytes), sequential{}, small_slots(readers));
    const loader_plan& plan = loader.plan();
    const auto check = [&] {
      CHECK(device.allocated_bytes(memory_kind::staging) == plan.staging_bytes);
      CHECK(device.allocated_bytes(memory_kind::device) == plan.device_bytes);
      CHECK(device.mappings() == (through == data_path::gather ? 1 : 0));
    };
    check();
    const std::size_t answers = through == data_path::decoded ? plan.device_slots * 4 : 0;
    CHECK(plan.staging_bytes == plan.staging_slots * plan.slot_bytes + answers);
    CHECK(plan.device_bytes ==
          plan.device_slots * plan.device_slot_bytes + plan.destination_bytes + plan.cache_bytes);
    CHECK((plan.destination_bytes != 0) == plan.assembled);
    CHECK(plan.assembled == (through != data_path::stream));
    CHECK((plan.cache_bytes != 0) == (plan.cached_samples != 0 || through == data_path::decoded));
    if (through == data_path::resident) CHECK(plan.cache_bytes == all_rows);
    if (through == data_path::gather) CHECK(plan.cache_bytes == 2'816 + 512);  // small fields
    const auto allocations = device.allocations();
    (void)consume_epochs(loader, by, 3);
    check();
    CHECK(device.allocations() == allocations);
  }
  CHECK(device.allocated_bytes(memory_kind::staging) == 0);
  CHECK(device.allocated_bytes(memory_kind::device) == 0);
  CHECK(device.mappings() == 0);
  CHECK(device.handles() == handles);
}

TEST_CASE("placement: a gather maps whole pages of the dataset's own, and counts what it copies",
          "[device][host]") {
  const scripted on;
  loader_options options = small_slots(2);
  loader streamed{make_identity_rows(sample_count, row_bytes), shuffle{.seed = 4}, on.device,
                  options};
  const auto expected = two_epochs(streamed, on);

  const scripted pages;
  pages.device->map_pages_of(4096);
  options.placement = placement::gather;
  const auto data = make_identity_rows(sample_count, row_bytes);
  loader gathered{data, shuffle{.seed = 4}, pages.device, options};
  CHECK(pages.device->mappings() == 1);
  const loader_plan& plan = gathered.plan();
  CHECK(plan.cache_bytes ==
        detail::device_row_cache::copied_bytes(data->rows(), sample_count, 4096));
  CHECK(plan.cache_bytes <= 2'816 + 512 + 2 * (4096 + row_bytes) + 256);
  CHECK(pages.device->allocated_bytes(memory_kind::device) == plan.device_bytes);
  CHECK(two_epochs(gathered, pages) == expected);
}

TEST_CASE("placement: the dataset's memory is unmapped with the loader, though a batch outlives it",
          "[batch][host]") {
  const path_setup by{data_path::gather};
  recorder record{by.looks()};
  std::optional<batch> kept;
  std::weak_ptr<const dataset> watch;
  {
    auto data = make_identity_rows(sample_count, row_bytes);
    watch = data;
    loader loader = by.load(std::exchange(data, nullptr), sequential{}, small_slots(2));
    auto range = loader.epoch(0, by.stream);
    kept = range.next();
    REQUIRE(kept);
    CHECK(by.on.device->mappings() == 1);
  }
  CHECK(by.on.device->mappings() == 0);
  CHECK(watch.expired());
  record(*kept);
  const auto seen = record.seen();
  CHECK(in_order_and_intact(seen));
  kept.reset();
  CHECK(by.on.device->allocated_bytes(memory_kind::device) == 0);
}

TEST_CASE(
    "placement: if device memory does not suffice for the rows, half as many are tried, and the "
    "log has the numbers",
    "[loader][host]") {
  const log_capture log;
  const scripted on;
  // The first allocation is of staging memory, the second of device slots, the third of rows.
  on.device->fail_call(device_call::allocate, 3);
  loader loader = automatic(on, std::size_t{1} << 40);
  CHECK(loader.plan().placement == placement::cached);
  CHECK(loader.plan().cache_bytes <= all_rows / 2);
  CHECK(loader.plan().cache_bytes > all_rows / 2 - 4'000);
  CHECK(log.text().find("scripted: cannot cache rows in 1065728 bytes of device memory: the "
                        "scripted device fails this call as told; trying at most 532864 bytes") !=
        std::string::npos);
  CHECK(on.device->allocated_bytes(memory_kind::device) == loader.plan().device_bytes);
  CHECK(on.device->allocated_bytes(memory_kind::staging) == loader.plan().staging_bytes);
  CHECK(all_intact(two_epochs(loader, on)));
}

TEST_CASE("placement: a loader for which there is no room with cached rows streams in the end",
          "[loader][host]") {
  const log_capture log;
  const scripted on;
  // The device slots, and no byte more.
  on.device->limit(memory_kind::device, automatic(scripted{}, 0).plan().device_bytes);
  loader loader = automatic(on, std::size_t{1} << 40);
  CHECK(loader.plan().placement == placement::stream);
  CHECK(loader.plan().cached_samples == 0);
  CHECK(log.lines() <= 12);  // each try halves what was really asked for, not the budget
  CHECK(log.text().find("trying at most 532864 bytes") != std::string::npos);
  CHECK(all_intact(two_epochs(loader, on)));
}

TEST_CASE("placement: with too little memory for streaming, the automatic one throws too",
          "[loader][host]") {
  const log_capture log;
  const scripted on;
  on.device->limit(memory_kind::device, 1'000);
  CHECK_THROWS_AS(automatic(on, std::size_t{1} << 40), out_of_memory);
  CHECK(on.device->allocated_bytes(memory_kind::staging) == 0);
}

TEST_CASE("placement: too little staging memory is nothing that fewer rows could help",
          "[loader][host]") {
  const log_capture log;
  const scripted on;
  on.device->fail_call(device_call::allocate, 1);
  CHECK_THROWS_AS(automatic(on, std::size_t{1} << 40), out_of_memory);
  CHECK(log.lines() == 0);
}

TEST_CASE("placement: one that was asked for outright throws out_of_memory, and nothing is kept",
          "[device][host]") {
  const data_path through = GENERATE(from_range(assembled_data_paths()));
  const std::uint64_t nth = GENERATE(1U, 2U, 3U, 4U);
  CAPTURE(to_string(through), nth);
  const log_capture log;
  const path_setup by{through};
  const std::size_t handles = by.on.device->handles();
  by.on.device->fail_call(device_call::allocate, nth);
  const auto make = [&] {
    return by.load(make_identity_rows(sample_count, row_bytes), sequential{}, small_slots(2));
  };
  if (nth == 4 && through == data_path::transformed) {
    CHECK_NOTHROW(make());  // staging, device slots, copy destinations: there is no fourth
  } else {
    CHECK_THROWS_AS(make(), out_of_memory);
  }
  CHECK(log.lines() == 0);
  CHECK(by.on.device->allocated_bytes(memory_kind::staging) == 0);
  CHECK(by.on.device->allocated_bytes(memory_kind::device) == 0);
  CHECK(by.on.device->mappings() == 0);
  CHECK(by.on.device->handles() == handles);
}

TEST_CASE("placement: a failing device call ends the epoch in order", "[transfer][host]") {
  struct refusal {
    device_call call;
    std::uint64_t nth;
  };
  const data_path through = GENERATE(from_range(assembled_data_paths()));
  const auto refused = GENERATE(refusal{device_call::copy, 3}, refusal{device_call::assemble, 1},
                                refusal{device_call::assemble, 4}, refusal{device_call::record, 7},
                                refusal{device_call::wait, 5}, refusal{device_call::is_done, 2});
  const int readers = GENERATE(0, 3);
  CAPTURE(to_string(through), static_cast<int>(refused.call), refused.nth, readers);
  const path_setup by{through};
  recorder record{by.looks()};
  {
    loader loader =
        by.load(make_identity_rows(sample_count, row_bytes), sequential{}, small_slots(readers));
    by.on.device->fail_call(refused.call, refused.nth);
    auto range = loader.epoch(0, by.stream);
    const auto consume = [&] {
      while (auto batch = range.next()) record(*batch);
      for (std::uint64_t epoch = 1; epoch < 5; ++epoch) {
        auto of = loader.epoch(epoch, by.stream);
        while (auto batch = of.next()) record(*batch);
      }
    };
    CHECK_THROWS_AS(consume(), stage_error);
    CHECK_THROWS_AS((void)range.next(), stage_error);
  }
  CHECK(all_intact(record.seen()));
  CHECK(by.on.device->allocated_bytes(memory_kind::device) == 0);
  CHECK(by.on.device->mappings() == 0);
}

TEST_CASE("placement: a gather whose rows cannot be mapped is refused, and nothing is kept",
          "[device][host]") {
  const path_setup by{data_path::gather};
  const std::size_t handles = by.on.device->handles();
  by.on.device->fail_call(device_call::map, 1);
  CHECK_THROWS_AS(
      by.load(make_identity_rows(sample_count, row_bytes), sequential{}, small_slots(1)),
      device_error);
  CHECK(by.on.device->mappings() == 0);
  CHECK(by.on.device->allocated_bytes(memory_kind::device) == 0);
  CHECK(by.on.device->handles() == handles);
}

TEST_CASE("placement: destruction with assemblies held open waits for them before memory is freed",
          "[transfer][host]") {
  const data_path through = GENERATE(from_range(assembled_data_paths()));
  CAPTURE(to_string(through));
  const path_setup by{through};
  scripted_device& device = *by.on.device;
  device.hold_assemblies();
  std::optional<loader> held{
      by.load(make_identity_rows(sample_count, row_bytes), sequential{}, [&] {
        auto options = small_slots(2);
        options.epochs = 1;
        return options;
      }())};
  device.wait_for_started_assemblies(1);
  std::atomic<bool> allowed{false};
  std::atomic<bool> freed_too_soon{false};
  std::thread destroyer{[&] {
    held.reset();
    freed_too_soon = !allowed.load();
  }};
  CHECK(device.allocated_bytes(memory_kind::device) > 0);
  CHECK(device.mappings() == (through == data_path::gather ? 1 : 0));
  allowed = true;
  device.allow_all_assemblies();
  destroyer.join();
  CHECK(!freed_too_soon);
  CHECK(device.freed_in_use() == 0);
  CHECK(device.allocated_bytes(memory_kind::device) == 0);
  CHECK(device.mappings() == 0);
}
