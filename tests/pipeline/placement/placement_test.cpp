/// Placements: the same batches wherever the rows are, and what each of them spares the bus.

#include <feedline/error.hpp>
#include <feedline/loader/loader.hpp>
#include <feedline/sampler/sequential.hpp>
#include <feedline/sampler/shuffle.hpp>

#include "support/checks/catch.hpp"
#include "support/checks/message_of.hpp"
#include "support/checks/recorder.hpp"
#include "support/checks/sanitized.hpp"
#include "support/datasets/gated_dataset.hpp"
#include "support/datasets/identity_dataset.hpp"
#include "support/devices/data_paths.hpp"
#include "support/devices/scripted_device.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <thread>
#include <utility>
#include <vector>

using namespace feedline;
using namespace feedline::test;

namespace {

constexpr std::uint64_t sample_count = 331;  // a prime: nothing divides it
constexpr std::size_t row_bytes = 37;
constexpr std::size_t sample_size = 8 + row_bytes + 1;

/// Visits each sample of a window three times before the next window, and its first sample
/// everywhere.
struct repeating {
  std::uint64_t size(std::uint64_t samples) const { return 3 * samples; }
  void indices(std::uint64_t samples, std::uint64_t epoch, position first,
               std::span<sample_index> out) const {
    for (std::uint64_t i = 0; i < out.size(); ++i) {
      const std::uint64_t at = first.value + i;
      const std::uint64_t in_window = at / 30 * 10 + at % 10;
      out[i] = sample_index{at % 7 == 0 ? 0 : (in_window + epoch) % samples};
    }
  }
};

/// Visits every third sample.
struct skipping {
  std::uint64_t size(std::uint64_t samples) const { return samples / 3; }
  void indices(std::uint64_t samples, std::uint64_t epoch, position first,
               std::span<sample_index> out) const {
    for (std::uint64_t i = 0; i < out.size(); ++i)
      out[i] = sample_index{(3 * (first.value + i) + epoch) % samples};
  }
};

std::vector<seen_batch> deliver(data_path through, const sampler& order,
                                const loader_options& options, std::uint64_t epochs = 3) {
  const path_setup by{through};
  loader loader = by.load(make_identity_rows(sample_count, row_bytes), order, options);
  return consume_epochs(loader, by, epochs);
}

/// A scripted device's loader whose epochs are counted one by one.
class counted {
 public:
  counted(data_path through, const loader_options& options)
      : by_{through},
        loader_{
            by_.load(make_identity_rows(sample_count, row_bytes), shuffle{.seed = 4}, options)} {}

  /// Bytes copied for an epoch.
  std::uint64_t epoch(std::uint64_t number) {
    const std::uint64_t before = by_.on.device->copied_bytes();
    seen_ = consume_epochs(loader_, by_, 1, number);
    return by_.on.device->copied_bytes() - before;
  }
  bool all_intact() const { return test::all_intact(seen_); }
  const loader_plan& plan() const { return loader_.plan(); }
  /// Tables of an epoch's slots, which are all that crosses when all rows are there.
  std::uint64_t tables() const {
    const auto runs = (plan().batch_size + plan().request_samples - 1) / plan().request_samples;
    const auto padded = [](std::uint64_t bytes) { return (bytes + 255) / 256 * 256; };
    const std::uint64_t slot_samples = plan().batch_size * plan().batches_per_slot;
    const std::uint64_t entries = plan().batches_per_slot * runs * (2 + 3);
    return plan().slots_per_epoch * padded(padded(slot_samples * 4) + entries * 4);
  }

 private:
  path_setup by_;
  loader loader_;
  std::vector<seen_batch> seen_;
};

loader_options small_slots(int readers) {
  return {.batch_size = 16,
          .readers = readers,
          .expert = {.batches_per_slot = 2,
                     .request_bytes = 8 * sample_size,
                     .staging_slots = 3,
                     .device_slots = 2}};
}

}  // namespace

TEST_CASE("placement: every one delivers the same batches, epoch after epoch, however they are cut",
          "[loader][host]") {
  const data_path through = GENERATE(from_range(all_data_paths()));
  const bool shuffled = GENERATE(true, false);
  const sampler order = shuffled ? sampler{shuffle{.seed = 42}} : sampler{sequential{}};
  static const auto expected_of = [](const sampler& of) {
    return deliver(data_path::in_place, of, {.batch_size = 16, .readers = 0});
  };
  static const std::vector<seen_batch> expected[] = {expected_of(sequential{}),
                                                     expected_of(shuffle{.seed = 42})};
  REQUIRE(all_intact(expected[shuffled]));
  const int readers = GENERATE(0, 1, 4);
  const std::uint64_t batches_per_slot = GENERATE(0U, 1U, 5U);
  const std::size_t slots = GENERATE(2U, 3U);
  const std::size_t request_bytes = GENERATE(1U, 7U * sample_size, 40U * sample_size);
  static combinations cases;
  if (!cases.takes_next()) return;
  CAPTURE(to_string(through), shuffled, readers, batches_per_slot, slots, request_bytes);
  CHECK(deliver(through, order,
                {.batch_size = 16,
                 .epochs = slots == 2 ? 0U : 3U,
                 .readers = readers,
                 .expert = {.batches_per_slot = batches_per_slot,
                            .request_bytes = request_bytes,
                            .staging_slots = slots,
                            .device_slots = 2}}) == expected[shuffled]);
}

TEST_CASE("placement: a sample that comes several times in a slot is right each time",
          "[loader][host]") {
  const data_path through = GENERATE(from_range(all_data_paths()));
  const int readers = GENERATE(0, 3);
  const std::size_t request_bytes = GENERATE(4U * sample_size, 100U * sample_size);
  CAPTURE(to_string(through), readers, request_bytes);
  const auto expected = deliver(data_path::in_place, repeating{}, {.batch_size = 10, .readers = 0});
  REQUIRE(all_intact(expected));
  CHECK(deliver(through, repeating{},
                {.batch_size = 10,
                 .readers = readers,
                 .expert = {.batches_per_slot = 6, .request_bytes = request_bytes}}) == expected);
}

TEST_CASE("placement: samples that an epoch leaves out are found in a later one",
          "[loader][host]") {
  const data_path through = GENERATE(from_range(all_data_paths()));
  const int readers = GENERATE(0, 2);
  CAPTURE(to_string(through), readers);
  const auto expected =
      deliver(data_path::in_place, skipping{}, {.batch_size = 8, .readers = 0}, 5);
  REQUIRE(all_intact(expected));
  CHECK(deliver(through, skipping{},
                {.batch_size = 8, .readers = readers, .expert = {.batches_per_slot = 3}},
                5) == expected);
}

TEST_CASE(
    "placement: a sampler that names a sample beyond the dataset gets an error, and no memory "
    "beyond its rows is read",
    "[reader][host]") {
  struct beyond {
    std::uint64_t size(std::uint64_t samples) const { return samples; }
    void indices(std::uint64_t samples, std::uint64_t, position first,
                 std::span<sample_index> out) const {
      for (std::uint64_t i = 0; i < out.size(); ++i) {
        const std::uint64_t at = first.value + i;
        out[i] = sample_index{at == 100 ? samples + 1'000'000 : at};
      }
    }
  };
  const data_path through = GENERATE(from_range(all_data_paths()));
  CAPTURE(to_string(through));
  const path_setup by{through};
  loader loader = by.load(make_identity_rows(sample_count, row_bytes), beyond{}, small_slots(2));
  auto range = loader.epoch(0, by.stream);
  std::optional<stage_error> failure;
  std::uint64_t batches = 0;
  try {
    while (range.next()) ++batches;
  } catch (const stage_error& thrown) {
    failure.emplace(thrown);
  }
  REQUIRE(failure);
  CHECK(batches == 100 / 16);
  CHECK(test::message_of<usage_error>([&] { std::rethrow_exception(failure->cause()); }) ==
        "the sampler gives sample " + std::to_string(sample_count + 1'000'000) +
            " at position 100 of epoch 0, but the dataset has samples 0 to " +
            std::to_string(sample_count - 1) + ": correct its indices()");
}

TEST_CASE("placement: resident rows cross once, then only tables do", "[transfer][host]") {
  const int readers = GENERATE(0, 3);
  CAPTURE(readers);
  counted on{data_path::resident, small_slots(readers)};
  REQUIRE(on.plan().placement == placement::resident);
  const std::uint64_t first = on.epoch(0);
  CHECK(on.all_intact());
  CHECK(first >= on.tables() + sample_count * sample_size);
  // Keep numbers and padding of the parts come on top: a run is of 8 samples, a part ends at 16
  // bytes.
  const std::uint64_t runs = (sample_count + 7) / 8 + 1;
  CHECK(first <= on.tables() + sample_count * (sample_size + 4) + runs * 4 * 15);
  for (std::uint64_t epoch = 1; epoch < 4; ++epoch) {
    CHECK(on.epoch(epoch) == on.tables());
    CHECK(on.all_intact());
  }
}

TEST_CASE("placement: cached rows cross the bus once, other rows each time", "[transfer][host]") {
  const int readers = GENERATE(0, 3);
  CAPTURE(readers);
  counted on{data_path::cached_half, small_slots(readers)};
  REQUIRE(on.plan().placement == placement::cached);
  const std::uint64_t streamed = sample_count - on.plan().cached_samples;
  CHECK(on.plan().cached_samples >= sample_count / 2);
  CHECK(on.epoch(0) >= on.tables() + sample_count * sample_size);
  for (std::uint64_t epoch = 1; epoch < 4; ++epoch) {
    const std::uint64_t copied = on.epoch(epoch);
    CHECK(on.all_intact());
    CHECK(copied >= on.tables() + streamed * sample_size);
    const std::uint64_t runs = (sample_count + 7) / 8 + 1;
    CHECK(copied <= on.tables() + streamed * (sample_size + 4) + runs * 4 * 15);
  }
}

TEST_CASE("placement: a gather copies tables alone, from the first epoch on", "[transfer][host]") {
  const int readers = GENERATE(int{automatic_readers}, 0, 1, 3);
  CAPTURE(readers);
  counted on{data_path::gather, small_slots(readers)};
  CHECK(on.plan().placement == placement::gather);
  for (std::uint64_t epoch = 0; epoch < 3; ++epoch) {
    CHECK(on.epoch(epoch) == on.tables());
    CHECK(on.all_intact());
  }
}

TEST_CASE("placement: a gather has no reader thread unless asked for, but works ahead",
          "[loader][host]") {
  const path_setup by{data_path::gather};
  const auto data = make_identity_rows(sample_count, row_bytes);
  const auto plan_with = [&](int readers) {
    return by.load(data, sequential{}, {.batch_size = 16, .readers = readers}).plan();
  };
  CHECK(plan_with(automatic_readers).readers == 0);
  CHECK(plan_with(automatic_readers).background);
  CHECK(plan_with(0).readers == 0);
  CHECK(!plan_with(0).background);
  CHECK(plan_with(3).readers == 3);
  const loader ahead = by.load(data, sequential{}, {.batch_size = 16, .epochs = 1});
  by.on.device->wait_for_issued_copies(2);  // no batch was asked for yet
}

TEST_CASE("placement: a gather reads nothing from the dataset but where its rows lie",
          "[reader][host]") {
  std::atomic<std::uint64_t> reads{0};
  const path_setup by{data_path::gather};
  const auto data = gated_rows(make_identity_rows(sample_count, row_bytes), [&](auto) { ++reads; });
  loader loader = by.load(data, shuffle{.seed = 1}, {.batch_size = 16});
  CHECK(all_intact(consume_epochs(loader, by, 2)));
  CHECK(reads == 0);
}

TEST_CASE("placement: once all rows are resident the dataset is not read any more",
          "[reader][host]") {
  std::atomic<std::uint64_t> samples_read{0};
  const path_setup by{data_path::resident};
  const auto data = gated(make_identity_rows(sample_count, row_bytes),
                          [&](std::span<const sample_index> run) { samples_read += run.size(); });
  loader loader = by.load(data, shuffle{.seed = 1}, {.batch_size = 16, .readers = 2});
  CHECK(all_intact(consume_epochs(loader, by, 1)));
  CHECK(samples_read == sample_count);
  CHECK(all_intact(consume_epochs(loader, by, 3, 1)));
  CHECK(samples_read == sample_count);
}

TEST_CASE("placement: chosen by size where it is left open", "[loader][host]") {
  const scripted on;
  const auto data = make_identity_rows(sample_count, row_bytes);
  const std::size_t all = on_data_path(data_path::resident, *data, {}).memory.cache;
  CHECK(all == 0);  // resident needs no budget
  const auto chosen = [&](std::size_t budget) {
    return loader{data, sequential{}, on.device, {.batch_size = 16, .memory = {.cache = budget}}}
        .plan();
  };
  const std::size_t half = on_data_path(data_path::cached_half, *data, {}).memory.cache;
  CHECK(chosen(0).placement == placement::stream);
  CHECK(!chosen(0).assembled);
  CHECK(chosen(half).placement == placement::cached);
  CHECK(chosen(half).cached_samples < sample_count);
  CHECK(chosen(std::size_t{1} << 30).placement == placement::resident);
  CHECK(chosen(std::size_t{1} << 30).cached_samples == sample_count);
  CHECK(chosen(std::size_t{1} << 30).cache_bytes < std::size_t{1} << 20);
}

TEST_CASE("placement: if the consumer reads in place every one is stream", "[loader][host]") {
  const auto data = make_identity_rows(sample_count, row_bytes);
  const auto wanted =
      GENERATE(placement::automatic, placement::gather, placement::resident, placement::cached);
  loader loader{data, sequential{}, make_host_device(), {.batch_size = 16, .placement = wanted}};
  CHECK(loader.plan().placement == placement::stream);
  CHECK(loader.plan().cached_samples == 0);
  const path_setup by{data_path::in_place};
  CHECK(in_order_and_intact(consume_epochs(loader, by, 1)));
}

TEST_CASE("placement: rows of an epoch that was left while they were being kept are right later",
          "[transfer][host]") {
  const data_path through =
      GENERATE(data_path::resident, data_path::cached_half, data_path::cached_few);
  const int readers = GENERATE(0, 1, 4);
  const std::uint64_t left_after = GENERATE(0U, 1U, 3U, 9U);
  const std::uint64_t epochs = GENERATE(0U, 4U);
  CAPTURE(to_string(through), readers, left_after, epochs);
  loader_options options = small_slots(readers);
  options.epochs = epochs;
  const path_setup by{through};
  loader loader = by.load(make_identity_rows(sample_count, row_bytes), shuffle{.seed = 3}, options);
  {
    auto range = loader.epoch(0, by.stream);
    for (std::uint64_t i = 0; i < left_after; ++i) REQUIRE(range.next());
  }
  const auto later = consume_epochs(loader, by, 3, 1);
  CHECK(all_intact(later));
  CHECK(later.size() == 3 * 21);
}

TEST_CASE("placement: rows are not taken for kept before the work that keeps them was issued",
          "[transfer][host]") {
  // Readers run ahead of the transfer by a ring: while every assembly is held they must continue to
  // read rows that are not cached, and the slots filled meanwhile must find the rows that their
  // tables name.
  const data_path through = GENERATE(data_path::resident, data_path::cached_half);
  CAPTURE(to_string(through));
  const path_setup by{through};
  loader_options options = small_slots(3);
  options.epochs = 3;
  by.on.device->hold_assemblies();
  loader loader = by.load(make_identity_rows(40, row_bytes), shuffle{.seed = 3}, options);
  recorder record{by.looks()};
  auto range = loader.epoch(0, by.stream);
  auto first = range.next();  // its assembly was issued, not done
  REQUIRE(first);
  record(*first);
  first.reset();
  by.on.device->allow_all_assemblies();
  while (auto batch = range.next()) record(*batch);
  const auto rest = consume_epochs(loader, by, 2, 1);
  CHECK(all_intact(record.seen()));
  CHECK(all_intact(rest));
}

TEST_CASE(
    "placement: an error in the epoch that fills the cache comes in order, and no row that was "
    "not read counts as kept",
    "[reader][host]") {
  const data_path through = GENERATE(from_range(first_reading_data_paths()));
  const int readers = GENERATE(0, 1, 4);
  CAPTURE(to_string(through), readers);
  const path_setup by{through};
  const auto data =
      gated(make_identity_rows(sample_count, row_bytes), [](std::span<const sample_index> run) {
        for (const auto sample : run) {
          if (sample.value == 200) throw dataset_error{{}, "unreadable"};
        }
      });
  loader_options options = small_slots(readers);
  loader loader = by.load(data, sequential{}, options);
  recorder record{by.looks()};
  auto range = loader.epoch(0, by.stream);
  std::uint64_t batches = 0;
  const auto consume = [&] {
    while (auto batch = range.next()) {
      record(*batch);
      ++batches;
    }
  };
  CHECK_THROWS_AS(consume(), stage_error);
  CHECK(batches == 200 / 16);
  CHECK(in_order_and_intact(record.seen()));
  CHECK_THROWS_AS((void)loader.epoch(1, by.stream).next(), stage_error);
}
