/// Blocks that the device decodes come ahead of need, and many are decoded by one call.

#include "pipeline/decoding/loading.hpp"
#include "support/checks/contains.hpp"
#include "support/checks/sanitized.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <numeric>
#include <set>
#include <vector>

using namespace feedline;
using namespace feedline::test;

namespace {

constexpr std::uint32_t fields = 3;

std::uint64_t all_of(const std::vector<std::uint32_t>& loads) {
  return std::accumulate(loads.begin(), loads.end(), std::uint64_t{0});
}

/// The loads of each call that decoded blocks of one epoch.
std::vector<std::uint32_t> decode_calls(std::uint64_t rows, loader_options options) {
  const scripted on;
  options.decode_on = decode_on::device;
  options.placement = placement::stream;
  loader loader{make_encoded(make_identity_rows(sample_count, row_bytes), rows), sequential{},
                on.device, options};
  CHECK(in_order_and_intact(consume(loader, on, 1).batches));
  return on.device->issued_decodes();
}

}  // namespace

TEST_CASE("groups of blocks: batches are the same however few blocks come ahead",
          "[loader][transfer][host]") {
  const bool shuffled = GENERATE(true, false);
  const std::uint64_t rows = GENERATE(3U, 20U);
  const std::uint64_t batch_size = GENERATE(7U, 50U);
  const int readers = GENERATE(0, 3);
  const std::uint64_t ahead = GENERATE(1U, 6U);
  const std::uint64_t of_slot = (batch_size + rows - 1) / rows;
  const std::uint64_t window = shuffled ? 2 : 1;
  const loader_options options{
      .batch_size = batch_size,
      .readers = readers,
      .memory = {.cache = room_for(2 * window + ahead + 2 * of_slot + 3, rows)},
      .expert = {.batches_per_slot = 1}};
  static combinations cases;
  if (!cases.takes_next()) return;
  CAPTURE(shuffled, rows, batch_size, readers, ahead);
  const run_result seen = deliver(decode_on::device, rows, order_of(shuffled), options);
  CHECK(seen.error == std::nullopt);
  loader_options plain = options;
  plain.readers = 0;
  plain.memory.cache = 0;
  CHECK(seen.batches == deliver(decode_on::cpu, rows, order_of(shuffled), plain).batches);
}

TEST_CASE("groups of blocks: a call decodes a whole group, as soon as it has come",
          "[loader][transfer][host]") {
  // The first two slots bring their own, and after the second come all 32 others.
  CHECK(decode_calls(10, {.batch_size = 10, .readers = 2, .expert = {.batches_per_slot = 1}}) ==
        std::vector<std::uint32_t>{fields, fields, 11 * fields, 11 * fields, 10 * fields});
  // With 20 ahead or less a group has six.
  const std::vector<std::uint32_t> fewer =
      decode_calls(10, {.batch_size = 10,
                        .readers = 2,
                        .memory = {.cache = room_for(2 + 20 + 2 + 3, 10)},
                        .expert = {.batches_per_slot = 1}});
  CHECK(all_of(fewer) == 34 * fields);
  CHECK(fewer.size() <= 8);
  CHECK(fewer[2] >= 5 * fields);
  CHECK(std::count(fewer.begin(), fewer.end(), fewer[2]) + 3 >= std::ssize(fewer));
}

TEST_CASE("groups of blocks: a slot that needs a block does not wait until its group is full",
          "[loader][transfer][host]") {
  // A piece takes two blocks, so there are few in the beginning.
  const std::vector<std::uint32_t> loads = decode_calls(
      10, {.batch_size = 10, .readers = 2, .expert = {.batches_per_slot = 1, .piece_bytes = 1500}});
  CHECK(loads.front() <= 3 * fields);
  CHECK(all_of(loads) == 34 * fields);
  CHECK(loads.size() <= 8);  // ever more come together
  CHECK(*std::max_element(loads.begin(), loads.end()) <= 11 * fields);
}

TEST_CASE("groups of blocks: a slot of many blocks is decoded by few calls where memory is short",
          "[loader][transfer][host]") {
  const std::vector<std::uint32_t> loads =
      decode_calls(3, {.batch_size = 30,
                       .readers = 0,
                       .memory = {.cache = room_for(2 + 1 + 20 + 3, 3)},
                       .expert = {.batches_per_slot = 1}});
  CHECK(all_of(loads) == 111 * fields);
  CHECK(loads.size() == 12);  // ten blocks each, except the last
}

TEST_CASE("groups of blocks: they come while no device slot is free", "[loader][transfer][host]") {
  const scripted on;
  loader loader{make_encoded(make_identity_rows(sample_count, row_bytes), 3), sequential{},
                on.device,
                loader_options{.batch_size = 30,
                               .readers = 2,
                               .placement = placement::stream,
                               .decode_on = decode_on::device,
                               .memory = {.cache = room_for(2 + 12 + 20 + 3, 3)},
                               .expert = {.batches_per_slot = 1,
                                          // for seven blocks: two pieces are a group
                                          .piece_bytes = 2000,
                                          .device_slots = 2}}};
  auto range = loader.epoch(0, on.stream);
  on.device->wait_for_issued_decodes(3);  // ten blocks that the third slot needs
  recorder record{on};
  while (const auto batch = range.next()) record(*batch);
  CHECK(in_order_and_intact(record.seen()));
}

TEST_CASE("groups of blocks: each is decoded once an epoch, also with little memory",
          "[loader][transfer][host]") {
  const std::uint64_t ahead = GENERATE(1U, 9U);
  const scripted on;
  const auto script = std::make_shared<encoded_script>();
  loader loader{make_encoded(make_identity_rows(sample_count, row_bytes), 5, script),
                shuffle{.seed = 9, .within = chunks(4)},
                on.device,
                {.batch_size = 8,
                 .epochs = 3,
                 .readers = 2,
                 .placement = placement::stream,
                 .decode_on = decode_on::device,
                 .memory = {.cache = room_for(8 + ahead + 4 + 3, 5)},
                 .expert = {.batches_per_slot = 1}}};
  REQUIRE(loader.plan().decode_on == decode_on::device);
  CHECK(all_intact(consume(loader, on, 3).batches));
  CHECK(script->block_reads == 3 * fields * blocks_of(5));
  CHECK(all_of(on.device->issued_decodes()) == 3 * fields * blocks_of(5));
}

TEST_CASE("groups of blocks: blocks of an abandoned epoch are in no later group",
          "[loader][transfer][host]") {
  const int readers = GENERATE(0, 2);
  const std::uint64_t ahead = GENERATE(1U, 12U);
  const scripted on;
  const sampler order = shuffle{.seed = 4, .within = chunks(3)};
  const auto make = [&](decode_on who) {
    return loader{make_encoded(make_identity_rows(sample_count, row_bytes), 6), order, on.device,
                  loader_options{.batch_size = 7,
                                 .readers = readers,
                                 .placement = placement::stream,
                                 .decode_on = who,
                                 .memory = {.cache = room_for(6 + ahead + 4 + 3, 6)},
                                 .expert = {.batches_per_slot = 1, .piece_bytes = 2000}}};
  };
  loader decoding = make(decode_on::device);
  REQUIRE(decoding.plan().decode_on == decode_on::device);
  loader plain = make(decode_on::cpu);
  for (std::uint64_t epoch = 0; epoch < 24; ++epoch) {
    recorder seen{on};
    recorder expected{on};
    for (auto* each : {&decoding, &plain}) {
      for (batch& batch : each->epoch(epoch, on.stream)) {
        (each == &decoding ? seen : expected)(batch);
        if (batch.index() == epoch % 12) break;
      }
    }
    CAPTURE(epoch);
    CHECK(seen.seen() == expected.seen());
  }
}
