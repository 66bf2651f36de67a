/// Pieces: a batch that is larger than what is staged at a time arrives whole, in order, or not at
/// all.

#include <feedline/backend/device.hpp>
#include <feedline/error.hpp>
#include <feedline/loader/loader.hpp>
#include <feedline/sampler/sequential.hpp>
#include <feedline/sampler/shuffle.hpp>

#include "support/checks/catch.hpp"
#include "support/checks/recorder.hpp"
#include "support/checks/sanitized.hpp"
#include "support/datasets/failing_dataset.hpp"
#include "support/datasets/gated_dataset.hpp"
#include "support/datasets/identity_dataset.hpp"
#include "support/devices/data_paths.hpp"
#include "support/devices/recording_device.hpp"

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <vector>

using namespace feedline;
using namespace feedline::test;

namespace {

constexpr std::uint64_t sample_count = 331;
constexpr std::size_t row_bytes = 37;
constexpr std::size_t sample_size = 8 + row_bytes + 1;
constexpr std::uint64_t batch_size = 24;

/// Batches of 24 in pieces of at most this many samples.
loader_options in_pieces(int readers, std::uint64_t samples) {
  return {.batch_size = batch_size,
          .readers = readers,
          .expert = {.piece_bytes = samples * sample_size,
                     .request_bytes = 3 * sample_size,
                     .staging_slots = 3,
                     .device_slots = 2}};
}

const std::vector<data_path> copied_ways{data_path::stream,     data_path::transformed,
                                         data_path::resident,   data_path::cached_half,
                                         data_path::cached_few, data_path::decoded};

/// Steps through an epoch until it throws; how many batches came before.
std::uint64_t batches_before_failure(epoch_range& range, recorder& record,
                                     std::optional<stage_error>& failure) {
  std::uint64_t count = 0;
  try {
    while (auto taken = range.next()) {
      record(*taken);
      ++count;
    }
  } catch (const stage_error& thrown) {
    failure.emplace(thrown);
  }
  return count;
}

}  // namespace

TEST_CASE("piece: batches are the same, whatever part of one is staged at a time",
          "[staging][transfer][host]") {
  const data_path through = GENERATE(from_range(all_data_paths()));
  const int readers = GENERATE(0, 1, 4);
  const std::uint64_t samples = GENERATE(1U, 5U, 12U, 23U, 24U, 50U);
  static combinations cases;
  if (!cases.takes_next()) return;
  CAPTURE(to_string(through), readers, samples);
  const auto data = make_identity_rows(sample_count, row_bytes);
  const path_setup reference{data_path::in_place};
  loader expected =
      reference.load(data, shuffle{.seed = 42}, {.batch_size = batch_size, .readers = 0});
  const path_setup by{through};
  loader loader = by.load(data, shuffle{.seed = 42}, in_pieces(readers, samples));
  // Where blocks are decoded a slot's pieces are of blocks, and its tables are one.
  if (through != data_path::in_place && through != data_path::gather &&
      through != data_path::decoded)
    CHECK(loader.plan().piece_samples <= samples / batch_size * batch_size + batch_size);
  if (through == data_path::stream && samples < batch_size)
    CHECK(loader.plan().piece_samples <= samples);
  const auto seen = consume_epochs(loader, by, 3);
  CHECK(all_intact(seen));
  CHECK(seen == consume_epochs(expected, reference, 3));
}

TEST_CASE("piece: a user's function sees a batch that came in pieces once, and whole",
          "[transfer][host]") {
  const int readers = GENERATE(0, 3);
  const path_setup by{data_path::stream};
  std::vector<std::uint64_t> sizes;
  loader_options options = in_pieces(readers, 7);
  options.expert.batch_transform = batch_transform{
      .fields = {{"id", element_type::u64, {}}},
      .run = [&](const batch_function_call& work) { sizes.push_back(work.samples); }};
  loader loader = by.load(make_identity_rows(60, row_bytes), sequential{}, options);
  auto range = loader.epoch(0, by.stream);
  while (range.next()) {
  }
  CHECK(sizes == std::vector<std::uint64_t>{24, 24, 12});
}

TEST_CASE(
    "piece: a sample that cannot be read costs its batch, whichever piece it is in, and none "
    "before",
    "[reader][transfer][host]") {
  const path_setup by{GENERATE(from_range(copied_ways))};
  const int readers = GENERATE(0, 1, 4);
  const std::uint64_t bad = GENERATE(48U, 55U, 71U);  // the first, a middle and the last piece
  CAPTURE(to_string(by.through), readers, bad);
  loader loader =
      by.load(make_damaged(make_identity_rows(sample_count, row_bytes), sample_index{bad}),
              sequential{}, in_pieces(readers, 7));
  recorder record{by.looks()};
  auto range = loader.epoch(0, by.stream);
  std::optional<stage_error> failure;
  CHECK(batches_before_failure(range, record, failure) == 2);
  CHECK(in_order_and_intact(record.seen()));
  REQUIRE(failure);
  CHECK(failure->where().stage == stage::reader);
  CHECK(failure->where().batch == 2);
  CHECK(failure->where().sample == bad);
}

TEST_CASE("piece: an epoch that is left amid a batch leaves nothing of it in the next",
          "[loader][transfer][host]") {
  const path_setup by{GENERATE(from_range(copied_ways))};
  const int readers = GENERATE(1, 4);
  CAPTURE(to_string(by.through), readers);
  // Only the first pieces of epoch 0's second batch are read before the epoch is left.
  std::atomic<bool> met{false};
  std::atomic<bool> open{false};
  const auto data = gated(make_identity_rows(sample_count, row_bytes), [&](auto run) {
    for (const sample_index sample : run)
      if (sample.value == 40) {
        met.store(true);
        met.notify_all();
        open.wait(false);
      }
  });
  loader loader = by.load(data, sequential{}, in_pieces(readers, 5));
  {
    auto left = loader.epoch(0, by.stream);
    REQUIRE(left.next());
    met.wait(false);
  }
  auto range = loader.epoch(1, by.stream);
  open.store(true);
  open.notify_all();
  recorder record{by.looks()};
  while (auto taken = range.next()) record(*taken);
  CHECK(record.seen().size() == (sample_count + batch_size - 1) / batch_size);
  CHECK(in_order_and_intact(record.seen()));
}

TEST_CASE("piece: a batch is not ready before all its pieces are, whichever copy ends first",
          "[transfer][host]") {
  const bool young_first = GENERATE(false, true);
  const std::uint64_t samples = GENERATE(12U, 8U);  // two pieces, and three
  CAPTURE(young_first, samples);
  const path_setup by{data_path::stream};
  if (young_first) by.on.device->favour_young_streams();
  loader loader =
      by.load(make_identity_rows(96, row_bytes), sequential{}, in_pieces(no_readers, samples));
  recorder record{by.looks()};
  by.on.device->hold_copies();
  auto range = loader.epoch(0, by.stream);
  std::uint64_t copied = 0;
  for (int batch = 0; batch < 3; ++batch) {
    auto taken = range.next();
    REQUIRE(taken);
    record(*taken);
    for (std::uint64_t copy = 0; copy < batch_size / samples * 3; ++copy) {  // three fields
      by.on.device->allow_copies(1);
      by.on.device->wait_for_completed_copies(++copied);
    }
  }
  CHECK(record.seen().size() == 3);
  CHECK(in_order_and_intact(record.seen()));
  by.on.device->allow_all_copies();
}

TEST_CASE("piece: if the consumer still uses the slot, a batch's copies keep to one stream",
          "[transfer][host]") {
  const bool in_use = GENERATE(false, true);
  const auto device = std::make_shared<recording_device>();
  std::set<event_handle> copied;  // events recorded after a copy
  bool behind_copy = false;
  device->on_call = [&](const recorded_call& call) {
    if (call.what == device_call::record && behind_copy) copied.insert(call.event);
    behind_copy = call.what == device_call::copy;
  };
  device->on_is_done = [&](event_handle event) { return !in_use || copied.count(event) != 0; };
  loader loader{make_identity_rows(96, row_bytes), sequential{}, device, in_pieces(no_readers, 8)};
  const stream_ref stream = device->make_stream();
  auto range = loader.epoch(0, stream);
  while (range.next()) {
  }
  std::set<void*> streams;
  for (const recorded_call& call : device->calls())
    if (call.what == device_call::copy) streams.insert(call.stream.get());
  CHECK(streams.size() == (in_use ? 1 : 2));
  device->on_is_done = [](event_handle) { return true; };
}

TEST_CASE("piece: none is written over a batch that the consumer still reads", "[transfer][host]") {
  const bool young_first = GENERATE(false, true);
  const path_setup by{GENERATE(data_path::stream, data_path::transformed)};  // others are awaited
  CAPTURE(young_first, to_string(by.through));
  if (young_first) by.on.device->favour_young_streams();
  loader loader =
      by.load(make_identity_rows(96, row_bytes), sequential{}, in_pieces(no_readers, 12));
  recorder record{by.looks()};
  by.on.device->hold_work();
  auto range = loader.epoch(0, by.stream);
  for (int batch = 0; batch < 3; ++batch) {  // the third goes where the first is
    auto taken = range.next();
    REQUIRE(taken);
    record(*taken);
  }
  by.on.device->allow_all_work();
  CHECK(record.seen().size() == 3);
  CHECK(in_order_and_intact(record.seen()));
}

TEST_CASE("piece: memory stays where a copy is refused amid a batch, and the one before still runs",
          "[staging][transfer][host]") {
  const path_setup by{data_path::stream};
  {
    loader loader = by.load(make_identity_rows(sample_count, row_bytes), sequential{},
                            in_pieces(no_readers, 12));
    by.on.device->hold_copies();
    by.on.device->fail_call(device_call::copy, 4);  // the second piece's first, of three fields
    auto range = loader.epoch(0, by.stream);
    CHECK_THROWS_AS((void)range.next(), stage_error);
  }
  CHECK(by.on.device->freed_in_use() == 0);
  by.on.device->allow_all_copies();
}

TEST_CASE("piece: a copy that the device refuses fails its batch, and none before it",
          "[transfer][host]") {
  const path_setup by{data_path::stream};
  const std::uint64_t refused =
      GENERATE(0U, 4U, 11U);  // index of the copy: four pieces of three copies
  CAPTURE(refused);
  loader loader =
      by.load(make_identity_rows(sample_count, row_bytes), sequential{}, in_pieces(no_readers, 7));
  recorder record{by.looks()};
  auto range = loader.epoch(0, by.stream);
  auto first = range.next();
  REQUIRE(first);
  record(*first);
  first.reset();
  by.on.device->fail_call(device_call::copy, 1 + refused);
  std::optional<stage_error> failure;
  CHECK(batches_before_failure(range, record, failure) == 0);
  CHECK(in_order_and_intact(record.seen()));
  REQUIRE(failure);
  CHECK(failure->where().stage == stage::transfer);
  CHECK(failure->where().batch == 1);
}

TEST_CASE("piece: staging takes at most 40 MiB, whatever a batch takes", "[loader][host]") {
  const data_path through =
      GENERATE(data_path::stream, data_path::transformed, data_path::resident);
  const std::uint64_t samples_a_batch = GENERATE(1U, 64U, 4'000U);
  CAPTURE(to_string(through), samples_a_batch);
  const path_setup by{through};
  const auto data = make_identity_rows(8'000, 3'000);
  const loader loader = by.load(data, sequential{}, {.batch_size = samples_a_batch, .readers = 0});
  CHECK(loader.plan().staging_bytes <= std::size_t{40} << 20);
  CHECK(loader.plan().staging_slots == 4);
}
