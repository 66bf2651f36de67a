/// Memory after calls that the device refuses: it is never freed under work that uses it.

#include <feedline/error.hpp>
#include <feedline/loader/loader.hpp>
#include <feedline/sampler/sequential.hpp>
#include <feedline/sampler/shuffle.hpp>

#include "support/checks/catch.hpp"
#include "support/checks/log_capture.hpp"
#include "support/checks/recorder.hpp"
#include "support/checks/sanitized.hpp"
#include "support/datasets/identity_dataset.hpp"
#include "support/devices/data_paths.hpp"

#include <cstdint>
#include <optional>
#include <string>

using namespace feedline;
using namespace feedline::test;

namespace {

constexpr std::uint64_t always = 1U << 20U;

const std::vector<data_path> on_device{data_path::stream,      data_path::transformed,
                                       data_path::gather,      data_path::resident,
                                       data_path::cached_half, data_path::decoded};
/// Those of them on which a batch is there before the device has done anything for it.
const std::vector<data_path> not_awaited{data_path::stream, data_path::transformed,
                                         data_path::gather, data_path::resident,
                                         data_path::cached_half};

loader_options options(int readers) {
  return {.batch_size = 8,
          .readers = readers,
          .expert = {.batches_per_slot = 1, .staging_slots = 2, .device_slots = 2}};
}

}  // namespace

TEST_CASE(
    "refused calls: memory stays where the device will not mark the end of the consumer's work",
    "[device][batch][host]") {
  const path_setup by{GENERATE(from_range(on_device))};
  CAPTURE(to_string(by.through));
  recorder record{by.looks()};
  {
    loader loader = by.load(make_identity_rows(64, 8), sequential{}, options(0));
    auto range = loader.epoch(0, by.stream);
    auto taken = range.next();
    REQUIRE(taken);
    by.on.device->hold_work();
    record(*taken);
    by.on.device->fail_call(device_call::record, 1, 2);
    taken.reset();
  }  // no thread can wait for the look
  CHECK(by.on.device->freed_in_use() == 0);
  CHECK(by.on.device->allocated_bytes(memory_kind::device) > 0);
  by.on.device->allow_all_work();
  CHECK(all_intact(record.seen()));
}

TEST_CASE(
    "refused calls: memory stays where the device will not be waited for, and the log says so",
    "[device][staging][transfer][host]") {
  const path_setup by{GENERATE(from_range(not_awaited))};
  const bool hold_copies = GENERATE(false, true);
  CAPTURE(to_string(by.through), hold_copies);
  recorder record{by.looks()};
  const log_capture log;
  {
    loader loader = by.load(make_identity_rows(64, 8), sequential{}, options(0));
    if (hold_copies) {
      by.on.device->hold_copies();
    } else {
      by.on.device->hold_assemblies();
      by.on.device->hold_work();
    }
    auto range = loader.epoch(0, by.stream);
    auto taken = range.next();
    REQUIRE(taken);
    record(*taken);
    taken.reset();
    by.on.device->fail_call(device_call::is_done, 1, always);
    by.on.device->fail_call(device_call::sync, 1, always);
  }
  CHECK(by.on.device->freed_in_use() == 0);
  CHECK(by.on.device->allocated_bytes(memory_kind::device) > 0);
  CHECK(by.on.device->allocated_bytes(memory_kind::staging) > 0);
  CHECK(log.text().find(" bytes of device memory are never freed: the device does not tell whether "
                        "work on a device ring is done") != std::string::npos);
  CHECK(log.text().find(" bytes of staging memory are never freed") != std::string::npos);
  by.on.device->allow_all_copies();
  by.on.device->allow_all_assemblies();
  by.on.device->allow_all_work();
  CHECK(all_intact(record.seen()));
}

TEST_CASE("refused calls: memory is kept if no event can be recorded after a copy",
          "[staging][transfer][host]") {
  const path_setup by{GENERATE(from_range(on_device))};
  CAPTURE(to_string(by.through));
  {
    loader loader = by.load(make_identity_rows(64, 8), sequential{}, options(0));
    by.on.device->hold_copies();
    by.on.device->fail_call(device_call::record, 1, always);
    auto range = loader.epoch(0, by.stream);
    CHECK_THROWS_AS((void)range.next(), stage_error);
  }
  CHECK(by.on.device->freed_in_use() == 0);
  CHECK(by.on.device->allocated_bytes(memory_kind::staging) > 0);
  by.on.device->allow_all_copies();
}

TEST_CASE("refused calls: whichever one is, nothing is freed in use, and no batch is wrong",
          "[device][staging][transfer][batch][host]") {
  const auto call = GENERATE(device_call::copy, device_call::assemble, device_call::record,
                             device_call::wait, device_call::is_done, device_call::sync);
  const std::uint64_t times = GENERATE(1U, 2U, 4U);
  const int readers = GENERATE(0, 2);
  const data_path through = GENERATE(data_path::stream, data_path::resident, data_path::decoded);
  const std::size_t piece_bytes = GENERATE(0U, 3U * 17U);  // a batch in one piece, and in three
  for (std::uint64_t nth = 1 + first_case(times + piece_bytes); nth <= 12; nth += case_stride) {
    CAPTURE(static_cast<int>(call), nth, times, readers, to_string(through), piece_bytes);
    const log_capture log;
    const path_setup by{through};
    recorder record{by.looks()};
    {
      loader_options loading = options(readers);
      loading.expert.piece_bytes = piece_bytes;
      loader loader = by.load(make_identity_rows(64, 8), sequential{}, loading);
      by.on.device->fail_call(call, nth, times);
      auto range = loader.epoch(0, by.stream);
      try {
        while (const auto taken = range.next()) record(*taken);
      } catch (const stage_error&) {
        CHECK_THROWS_AS((void)range.next(), stage_error);
      }
    }
    CHECK(all_intact(record.seen()));
    CHECK(by.on.device->freed_in_use() == 0);
  }
}

TEST_CASE(
    "refused calls: work that a refused batch had begun is done before its slot is written again",
    "[device][transfer][host]") {
  loader_options loading = options(1);
  loading.expert.staging_slots = 40;      // so many that none is needed twice
  loading.expert.piece_bytes = 3U * 17U;  // a batch in three pieces
  const auto data = make_identity_rows(64, 8);
  const shuffle order{.seed = 4};
  const auto take_two = [](auto& range, recorder& record) {
    for (int i = 0; i < 2; ++i) {
      const auto taken = range.next();
      REQUIRE(taken);
      record(*taken);
    }
  };

  const path_setup plain{data_path::transformed};
  recorder expected{plain.looks()};
  loader alone = plain.load(data, order, loading);
  auto whole = alone.epoch(1, plain.stream);
  take_two(whole, expected);

  // One piece of epoch 0's second batch is in flight, and the next piece's copy is refused. That
  // stream continues first, and with it what epoch 1 writes into the same slot.
  const path_setup by{data_path::transformed};
  recorder seen{by.looks()};
  loader loader = by.load(data, order, loading);
  by.on.device->hold_assemblies();
  by.on.device->fail_call(device_call::copy, 5);
  {
    auto left = loader.epoch(0, by.stream);
    REQUIRE(left.next());
    by.on.device->wait_for_failed_calls();
  }
  auto next = loader.epoch(1, by.stream);
  take_two(next, seen);
  by.on.device->allow_all_assemblies();
  CHECK(seen.seen() == expected.seen());
}
