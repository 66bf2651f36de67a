/// The edges between the streams of a device that decodes blocks: no block is read before it is
/// decoded, and none is overwritten while it is read. Each edge is proved by holding the work that
/// comes first.

#include <feedline/deadline_error.hpp>

#include "pipeline/decoding/loading.hpp"
#include "support/checks/contains.hpp"
#include "support/checks/log_capture.hpp"
#include "support/checks/sanitized.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

using namespace feedline;
using namespace feedline::test;

namespace {

/// Slots of ten blocks, in order; the decoded-block buffer has 26 slots, and a group ten blocks.
loader make_tight(const scripted& on, int readers = 2) {
  loader made{make_encoded(make_identity_rows(sample_count, row_bytes), 3),
              sequential{},
              on.device,
              {.batch_size = 30,
               .readers = readers,
               .placement = placement::stream,
               .decode_on = decode_on::device,
               .memory = {.cache = room_for(26, 3)},
               .expert = {.batches_per_slot = 1}}};
  REQUIRE(made.plan().decode_on == decode_on::device);
  REQUIRE(made.plan().cache_bytes == room_for(26, 3));
  return made;
}

/// Slots of ten blocks in another order each epoch; a group is ten blocks.
loader make_shuffled(const scripted& on, std::uint64_t window, decode_on who) {
  loader made{make_encoded(make_identity_rows(sample_count, row_bytes), 3),
              shuffle{.seed = 4, .within = chunks(window)},
              on.device,
              {.batch_size = 30,
               .readers = 2,
               .placement = placement::stream,
               .decode_on = who,
               .memory = {.cache = room_for(2 * window + 23 + 10, 3)},
               .expert = {.batches_per_slot = 1}}};
  REQUIRE(made.plan().decode_on == who);
  return made;
}

std::vector<seen_batch> all_of(epoch_range& range, const scripted& on) {
  recorder record{on};
  while (const auto batch = range.next()) record(*batch);
  return record.seen();
}

}  // namespace

TEST_CASE("edges of decoding: no slot is assembled before its blocks are decoded",
          "[transfer][host]") {
  const scripted on;
  on.device->hold_decodes();
  loader loader = make_tight(on);
  auto range = loader.epoch(0, on.stream);
  on.device->wait_for_issued_decodes(1);
  const auto soon = std::chrono::steady_clock::now() + std::chrono::milliseconds{20};
  CHECK_THROWS_AS(range.next(soon), deadline_error);
  on.device->allow_all_decodes();
  CHECK(in_order_and_intact(all_of(range, on)));
}

TEST_CASE("edges of decoding: no block is overwritten before the slots that read it are assembled",
          "[transfer][host]") {
  const scripted on;
  on.device->hold_assemblies();
  loader loader = make_tight(on);
  auto range = loader.epoch(0, on.stream);
  // The third call overwrites the first slot's blocks. It would do so at once: streams that were
  // made first continue first, and the assemblies' is the last.
  on.device->wait_for_issued_decodes(3);
  on.device->allow_all_assemblies();
  CHECK(in_order_and_intact(all_of(range, on)));
}

TEST_CASE("edges of decoding: blocks do not arrive where others wait to be decoded",
          "[transfer][host]") {
  const scripted on;
  on.device->favour_young_streams();
  on.device->hold_decodes();
  loader loader = make_tight(on);
  auto range = loader.epoch(0, on.stream);
  // Each slot brings ten blocks and two more in the first: these are copied, and so are the loads,
  // for two groups each; and a slot's tables. The second slot's last blocks are the third group's,
  // which would come at once: the copies' stream is younger than that of decoding.
  on.device->wait_for_issued_copies(10);
  on.device->allow_all_decodes();
  CHECK(in_order_and_intact(all_of(range, on)));
}

TEST_CASE("edges of decoding: a slot waits for all groups that it needs", "[transfer][host]") {
  const scripted on;
  on.device->favour_young_streams();  // the second group's is the younger one
  on.device->hold_decodes();
  loader loader = make_shuffled(on, 15, decode_on::device);
  auto range = loader.epoch(0, on.stream);
  on.device->wait_for_issued_decodes(2);
  on.device->allow_decodes(1);
  const auto soon = std::chrono::steady_clock::now() + std::chrono::milliseconds{20};
  CHECK_THROWS_AS(range.next(soon), deadline_error);
  on.device->allow_all_decodes();
  const scripted plain;
  feedline::loader read = make_shuffled(plain, 15, decode_on::cpu);
  auto expected = read.epoch(0, plain.stream);
  CHECK(all_of(range, on) == all_of(expected, plain));
}

TEST_CASE("edges of decoding: memory is not freed while blocks are decoded into it",
          "[transfer][host]") {
  const scripted on;
  const log_capture log;
  {
    loader loader{make_encoded(make_identity_rows(sample_count, row_bytes), 10),
                  sequential{},
                  on.device,
                  {.batch_size = 10,
                   .readers = 2,
                   .decode_on = decode_on::device,
                   .expert = {.batches_per_slot = 1}}};
    on.device->hold_decodes();
    on.device->allow_decodes(2);
    auto range = loader.epoch(0, on.stream);
    recorder record{on};
    for (int i = 0; i < 2; ++i) record(*range.next());
    CHECK(in_order_and_intact(record.seen()));
    on.device->wait_for_issued_decodes(3);  // these slots do not need it
  }
  CHECK(on.device->freed_in_use() == 0);
  CHECK(on.device->allocated_bytes(memory_kind::device) > 0);
  CHECK_FALSE(contains(log.text(), "never freed"));
  on.device->allow_all_decodes();
  on.device->drain();
}

TEST_CASE("edges of decoding: memory stays where the device does not say when blocks are decoded",
          "[transfer][host]") {
  const scripted on;
  const log_capture log;
  std::vector<batch> held;  // both device slots: no slot needs what is decoded last
  {
    // A user's function may use memory of the user's, so the loader's end waits for all work.
    loader loader{
        make_encoded(make_identity_rows(sample_count, row_bytes), 10),
        sequential{},
        on.device,
        {.batch_size = 10,
         .readers = 2,
         .decode_on = decode_on::device,
         .expert = {.batches_per_slot = 1,
                    .device_slots = 2,
                    .batch_transform = batch_transform{.fields = {{"x", element_type::u8, {1}}},
                                                       .run = [](const batch_function_call&) {}}}}};
    on.device->hold_decodes();
    on.device->allow_decodes(2);
    auto range = loader.epoch(0, on.stream);
    for (int i = 0; i < 2; ++i) held.push_back(range.next().value());
    on.device->wait_for_issued_decodes(3);
    // After four for the copy destinations and one for arrivals: one for each of three worker
    // streams.
    on.device->fail_call(device_call::sync, 6, 3);
  }
  CHECK(on.device->freed_in_use() == 0);
  CHECK(contains(log.text(), "whether work on a copy destination is done"));
  on.device->allow_all_decodes();
  on.device->drain();
}

TEST_CASE("edges of decoding: memory is kept if no event is recorded after its decoding",
          "[transfer][host]") {
  const std::uint64_t times = GENERATE(1U, 2U);
  const scripted on;
  const log_capture log;
  {
    loader loader = make_tight(on, 0);
    on.device->hold_decodes();
    on.device->fail_call(device_call::record, 2, times);  // the one after the arrival's
    auto range = loader.epoch(0, on.stream);
    CHECK_THROWS_AS((void)range.next(), stage_error);
    CHECK(on.device->issued_decodes().size() == 1);
  }
  CHECK(on.device->freed_in_use() == 0);
  CHECK(contains(log.text(), "never freed") == (times == 2));
  on.device->allow_all_decodes();
  on.device->drain();
}

TEST_CASE("edges of decoding: whichever call the device refuses, no batch is wrong",
          "[transfer][host]") {
  const std::uint64_t times = GENERATE(1U, 3U);
  for (std::uint64_t nth = 1 + first_case(times); nth <= 45; nth += case_stride) {
    CAPTURE(nth, times);
    const log_capture log;
    const scripted on;
    recorder record{on};
    {
      loader loader{make_encoded(make_identity_rows(70, row_bytes), 3),
                    sequential{},
                    on.device,
                    {.batch_size = 12,
                     .readers = 0,
                     .placement = placement::stream,
                     .decode_on = decode_on::device,
                     .memory = {.cache = room_for(2 + 1 + 8 + 3, 3)},
                     .expert = {.batches_per_slot = 1}}};
      REQUIRE(loader.plan().decode_on == decode_on::device);
      on.device->fail_any_call(nth, times);
      auto range = loader.epoch(0, on.stream);
      try {
        while (const auto batch = range.next()) record(*batch);
      } catch (const stage_error&) {
        CHECK_THROWS_AS((void)range.next(), stage_error);
      }
    }
    const auto seen = record.seen();
    CHECK((seen.empty() || in_order_and_intact(seen)));
    CHECK(on.device->freed_in_use() == 0);
    on.device->drain();
  }
}
