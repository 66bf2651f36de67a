/// Ranks that share an epoch, and epochs that are filled up, where the device decodes.

#include "pipeline/decoding/loading.hpp"
#include "support/checks/sanitized.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

using namespace feedline;
using namespace feedline::test;

namespace {

/// In windows of chunks, or any order where a block is a sample.
sampler order_over(std::uint64_t rows) {
  return rows == 1 ? sampler{shuffle{.seed = 5}} : shuffle{.seed = 5, .within = chunks(3)};
}

}  // namespace

TEST_CASE("ranks that decode on the device: the same batches as readers make", "[loader][host]") {
  const std::uint64_t rows = GENERATE(1U, 4U, 9U);
  const std::uint64_t batch_size = GENERATE(1U, 8U, 40U);
  const int readers = GENERATE(0, 3);
  const std::uint64_t batches_per_slot = GENERATE(0U, 3U);
  const int world = GENERATE(2, 5);
  static combinations cases;
  if (!cases.takes_next()) return;
  for (int rank = 0; rank < world; ++rank) {
    const loader_options options{.batch_size = batch_size,
                                 .partial_batch = partial_batch::drop,
                                 .shard = {rank, world},
                                 .readers = readers,
                                 .expert = {.batches_per_slot = batches_per_slot}};
    CAPTURE(rows, batch_size, readers, batches_per_slot, rank, world);
    const auto script = std::make_shared<encoded_script>();
    const run_result expected = deliver(decode_on::cpu, rows, order_over(rows), options);
    const run_result seen = deliver(decode_on::device, rows, order_over(rows), options, script);
    CHECK(seen.error == std::nullopt);
    CHECK(seen.batches == expected.batches);
    CHECK(!seen.batches.empty());
    CHECK(script->sample_reads == 0);
  }
}

TEST_CASE("ranks that decode on the device: a rank reads its own samples, or each block once",
          "[loader][host]") {
  const std::uint64_t rows = GENERATE(1U, 9U);
  const auto script = std::make_shared<encoded_script>();
  const loader_options options{
      .batch_size = 8, .partial_batch = partial_batch::drop, .shard = {1, 4}, .readers = 2};
  (void)deliver(decode_on::device, rows, order_over(rows), options, script, 2);
  const std::uint64_t own = sample_count / 32 * 8;
  CHECK(script->block_reads == 2 * 3 * (rows == 1 ? own : blocks_of(rows)));  // three fields
}

TEST_CASE("ranks that decode on the device: a rank's slots pass through little memory",
          "[loader][host]") {
  const std::uint64_t rows = GENERATE(1U, 4U);
  const std::uint64_t batches_per_slot = GENERATE(1U, 4U);
  static combinations cases;
  for (std::uint64_t room = 1; room <= blocks_of(rows); room += rows == 1 ? 7 : 2) {
    if (!cases.takes_next()) continue;
    const loader_options options{.batch_size = 6,
                                 .partial_batch = partial_batch::drop,
                                 .shard = {2, 3},
                                 .readers = 2,
                                 .placement = placement::stream,
                                 .decode_on = decode_on::device,
                                 .memory = {.cache = room_for(room, rows)},
                                 .expert = {.batches_per_slot = batches_per_slot}};
    const scripted on;
    loader loader{make_encoded(make_identity_rows(sample_count, row_bytes), rows), order_over(rows),
                  on.device, options};
    CAPTURE(rows, batches_per_slot, room, loader.plan().decode_note);
    const bool decodes = loader.plan().decode_on == decode_on::device;
    if (room == 1) CHECK_FALSE(decodes);
    if (room + 8 > blocks_of(rows)) CHECK(decodes);
    const run_result seen = consume(loader, on, 2);
    CHECK(seen.error == std::nullopt);
    CHECK(seen.batches == deliver(decode_on::cpu, rows, order_over(rows), options,
                                  std::make_shared<encoded_script>(), 2)
                              .batches);
  }
}

TEST_CASE("ranks that decode on the device: a bad block ends the epochs of those that need it",
          "[loader][host]") {
  const std::uint64_t rows = GENERATE(1U, 4U);
  const bool lost = GENERATE(true, false);
  int failed = 0;
  for (int rank = 0; rank < 4; ++rank) {
    const loader_options options{
        .batch_size = 8, .partial_batch = partial_batch::drop, .shard = {rank, 4}, .readers = 2};
    const auto script = std::make_shared<encoded_script>();
    (lost ? script->unreadable : script->damaged).insert(42);
    const run_result expected = deliver(decode_on::cpu, rows, order_over(rows), options, script, 1);
    const run_result seen = deliver(decode_on::device, rows, order_over(rows), options, script, 1);
    CAPTURE(rows, lost, rank);
    CHECK(seen.error == expected.error);
    CHECK(seen.batches == expected.batches);
    failed += seen.error ? 1 : 0;
  }
  CHECK(failed >= 1);
  if (rows == 1) CHECK(failed == 1);
}

TEST_CASE("ranks that decode on the device: a run resumes amid a window, as one of another world",
          "[loader][host]") {
  const std::uint64_t rows = GENERATE(1U, 9U);
  const scripted on;
  const auto make = [&](std::uint64_t batch_size, shard own) {
    return loader{make_encoded(make_identity_rows(sample_count, row_bytes), rows),
                  order_over(rows),
                  on.device,
                  {.batch_size = batch_size,
                   .partial_batch = partial_batch::drop,
                   .shard = own,
                   .readers = 1,
                   .placement = placement::stream,
                   .decode_on = decode_on::device}};
  };
  loader whole = make(12, {});
  std::string state;
  recorder before{on};
  {
    auto range = whole.epoch(1, on.stream);
    for (int i = 0; i < 5; ++i) before(*range.next());
    state = to_json(whole.state());
  }
  std::vector<seen_batch> joined = before.seen();
  for (int rank = 0; rank < 2; ++rank) {
    loader part = make(6, {rank, 2});
    REQUIRE(part.plan().decode_on == decode_on::device);
    part.seek(loader_state::from_json(state));
    recorder behind{on};
    for (batch& batch : part.epoch(1, on.stream)) behind(batch);
    const auto seen = behind.seen();
    CHECK(all_intact(seen));
    for (std::size_t i = 0; i < seen.size(); ++i) {
      if (rank == 0)
        joined.push_back(seen[i]);
      else
        joined.at(5 + i).samples.insert(joined.at(5 + i).samples.end(), seen[i].samples.begin(),
                                        seen[i].samples.end());
    }
  }
  const auto script = std::make_shared<encoded_script>();
  auto expected = deliver(decode_on::cpu, rows, order_over(rows),
                          {.batch_size = 12, .partial_batch = partial_batch::drop}, script, 2)
                      .batches;
  expected.erase(expected.begin(),
                 expected.begin() + static_cast<std::ptrdiff_t>(sample_count / 12));
  CHECK((joined == expected));
}

TEST_CASE("ranks that decode on the device: epochs that end with samples of their beginning",
          "[loader][host]") {
  const std::uint64_t rows = GENERATE(1U, 4U, 30U);
  const int world = GENERATE(1, 2, 3);
  const auto last = GENERATE(partial_batch::fill, partial_batch::keep);
  const std::uint64_t batch_size = GENERATE(7U, 50U);
  const int readers = GENERATE(0, 2);
  const sampler order = GENERATE_COPY(as<sampler>{}, order_over(rows), sequential{});
  if (world > 1 && rows > 1 && order.target<sequential>() != nullptr) return;
  static combinations cases;
  if (!cases.takes_next()) return;
  for (int rank = 0; rank < world; ++rank) {
    const loader_options options{.batch_size = batch_size,
                                 .partial_batch = last,
                                 .shard = {rank, world},
                                 .readers = readers};
    CAPTURE(rows, world, rank, static_cast<int>(last), batch_size, readers);
    const auto script = std::make_shared<encoded_script>();
    const run_result expected = deliver(decode_on::cpu, rows, order, options);
    const run_result seen = deliver(decode_on::device, rows, order, options, script);
    CHECK(seen.error == std::nullopt);
    CHECK(seen.batches == expected.batches);
    CHECK(script->sample_reads == 0);
  }
}
