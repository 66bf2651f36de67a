#include <feedline/error.hpp>
#include <feedline/sampler/sequential.hpp>

#include "device/sample_random_bits.hpp"
#include "reader/slot_writer.hpp"
#include "support/checks/catch.hpp"
#include "support/checks/message_of.hpp"
#include "support/datasets/failing_dataset.hpp"
#include "support/datasets/gated_dataset.hpp"
#include "support/datasets/identity_dataset.hpp"
#include "support/devices/scripted_device.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

using namespace feedline;
using namespace feedline::detail;
using feedline::test::make_identity_rows;
using feedline::test::scripted_device;

namespace {

constexpr std::byte untouched{0xEE};
constexpr std::uint64_t samples = 40;
constexpr std::size_t row_bytes = 13;

/// Every sample at two neighbouring positions: 0 0 1 1 2 2 …
struct doubling {
  std::uint64_t size(std::uint64_t of) const { return 2 * of; }
  void indices(std::uint64_t, std::uint64_t, position first, std::span<sample_index> out) const {
    for (std::uint64_t i = 0; i < out.size(); ++i) out[i] = sample_index{(first.value + i) / 2};
  }
};

/// A writer, and one slot of two batches of ten, cut into runs of 4 4 2.
struct packing {
  explicit packing(std::uint64_t keep = 0, bool varies = false, sampler order = sequential{},
                   dataset_ptr of = make_identity_rows(samples, row_bytes),
                   const error_policy& errors = {})
      : data{std::move(of)},
        cached{keep == 0 ? nullptr
                         : std::make_shared<device_row_cache>(
                               device, std::vector<std::size_t>{8, row_bytes, 1}, samples, keep)},
        layout{slot_layout{data->fields(), 10, 2}.row_bytes(), 20, runs, varies, 1, keep != 0},
        source{data, std::move(order), 99, {}, errors},
        under_test{source, layout, cached},
        slot{device},
        memory(layout.slot_bytes(), untouched) {
    slot.data = memory.data();
    slot.work.pass = std::make_shared<epoch_pass>(5);
    slot.work.layout = runs;
  }

  void read(std::uint64_t begin, std::uint64_t end) {
    under_test.read(slot, {begin, end}, scratch);
  }

  std::uint32_t word(std::size_t at, std::uint64_t place) const {
    std::uint32_t value = 0;
    std::memcpy(&value, memory.data() + at + place * 4, 4);
    return value;
  }
  std::uint32_t source_of(std::uint64_t sample) const { return word(layout.sources_at(), sample); }
  std::uint32_t rows(std::uint64_t run) const { return word(layout.entry_at(run), 0); }
  std::uint32_t keep_number(std::uint64_t run, std::uint64_t row) const {
    return word(std::size_t{16} * word(layout.entry_at(run), 1), row);
  }
  /// The sample whose row lies at an index of a run's chunk, in all fields; nothing if it is torn.
  std::optional<std::uint64_t> arrived(std::uint64_t run, std::uint64_t row) const {
    const auto at = [&](std::size_t place, std::size_t bytes) {
      return std::span{memory}.subspan(
          std::size_t{16} * word(layout.entry_at(run), 2 + place) + row * bytes, bytes);
    };
    std::uint64_t sample = 0;
    std::memcpy(&sample, at(0, 8).data(), 8);
    const bool intact = test::is_identity(sample, at(0, 8), at(1, row_bytes)) &&
                        at(2, 1)[0] == static_cast<std::byte>(sample);
    return intact ? std::optional{sample} : std::nullopt;
  }

  std::shared_ptr<scripted_device> device = std::make_shared<scripted_device>();
  dataset_ptr data;
  request_layout runs{10, 4};
  std::shared_ptr<device_row_cache> cached;
  destination_layout layout;
  sample_source source;
  packing_writer under_test;
  staging_slot slot;
  reader_scratch scratch;
  std::vector<std::byte> memory;
};

}  // namespace

TEST_CASE("packing writer: if nothing is kept, every row arrives, and its position is recorded",
          "[reader][host]") {
  packing on;
  on.read(4, 8);
  CHECK(on.rows(1) == 4);
  for (std::uint32_t i = 0; i < 4; ++i) {
    CHECK(on.source_of(4 + i) == (assembly::arrived | i));
    CHECK(on.arrived(1, i) == 4 + i);
  }
  CHECK(on.slot.chunk_bytes == on.layout.chunk_bytes(4));
}

TEST_CASE("packing writer: a run writes its own tables and its chunk, nothing else",
          "[reader][host]") {
  packing on{10, true};
  on.read(4, 8);
  const auto is_untouched = [&](std::size_t begin, std::size_t end) {
    return std::all_of(on.memory.data() + begin, on.memory.data() + end,
                       [](std::byte byte) { return byte == untouched; });
  };
  CHECK(is_untouched(0, 16));
  CHECK(is_untouched(32, on.layout.random_bits_at() + 16));
  CHECK(is_untouched(on.layout.random_bits_at() + 32, on.layout.entry_at(1)));
  CHECK(is_untouched(on.layout.entry_at(2), on.layout.chunks_at()));
  CHECK(is_untouched(on.layout.chunks_at() + on.layout.chunk_bytes(4), on.memory.size()));
}

TEST_CASE("packing writer: a short batch's last run is as long as its samples", "[reader][host]") {
  packing on;
  on.read(18, 19);
  CHECK(on.rows(5) == 1);
  CHECK(on.source_of(18) == assembly::arrived);
  CHECK(on.arrived(5, 0) == 18);
}

TEST_CASE("packing writer: chunks follow one another in the order in which runs are read",
          "[reader][host]") {
  packing on;
  on.read(8, 10);
  on.read(0, 4);
  CHECK(std::size_t{16} * on.word(on.layout.entry_at(2), 2) == on.layout.chunks_at());
  CHECK(std::size_t{16} * on.word(on.layout.entry_at(0), 2) ==
        on.layout.chunks_at() + on.layout.chunk_bytes(2));
  CHECK(on.slot.chunk_bytes == on.layout.chunk_bytes(2) + on.layout.chunk_bytes(4));
  for (std::uint64_t i = 0; i < 4; ++i) CHECK(on.arrived(0, i) == i);
  for (std::uint64_t i = 0; i < 2; ++i) CHECK(on.arrived(2, i) == 8 + i);
}

TEST_CASE("packing writer: a row that is to be kept arrives with its number, until it is held",
          "[reader][host]") {
  packing on{20};  // every second sample: 1, 3, 5, …
  on.read(0, 4);
  CHECK(on.rows(0) == 4);
  CHECK(on.keep_number(0, 0) == assembly::not_cached);
  CHECK(on.keep_number(0, 1) == 0);
  CHECK(on.keep_number(0, 2) == assembly::not_cached);
  CHECK(on.keep_number(0, 3) == 1);

  on.cached->hold(1);  // sample 3
  on.read(0, 4);
  CHECK(on.rows(0) == 3);
  CHECK(on.source_of(0) == assembly::arrived);
  CHECK(on.source_of(1) == (assembly::arrived | 1U));
  CHECK(on.source_of(2) == (assembly::arrived | 2U));
  CHECK(on.source_of(3) == 1);
  CHECK(on.arrived(0, 2) == 2);
}

TEST_CASE("packing writer: a run whose rows are all held claims no room and reads nothing",
          "[reader][host]") {
  std::uint64_t reads = 0;
  packing on{samples, false, sequential{},
             test::gated(make_identity_rows(samples, row_bytes), [&](auto) { ++reads; })};
  for (std::uint32_t row = 0; row < 4; ++row) on.cached->hold(row);
  on.read(0, 4);
  CHECK(on.rows(0) == 0);
  CHECK(on.slot.chunk_bytes == 0);
  CHECK(reads == 0);
  for (std::uint32_t i = 0; i < 4; ++i) CHECK(on.source_of(i) == i);
  on.read(4, 8);
  CHECK(reads == 1);
}

TEST_CASE("packing writer: a sample that comes twice in a run is right both times",
          "[reader][host]") {
  packing on{samples, false, doubling{}};
  on.cached->hold(1);
  on.read(0, 4);  // 0 0 1 1
  CHECK(on.rows(0) == 2);
  CHECK(on.arrived(0, on.source_of(0) & ~assembly::arrived) == 0);
  CHECK(on.arrived(0, on.source_of(1) & ~assembly::arrived) == 0);
  CHECK(on.keep_number(0, 0) == 0);
  CHECK(on.keep_number(0, 1) == 0);
  CHECK(on.source_of(2) == 1);
  CHECK(on.source_of(3) == 1);
}

TEST_CASE("packing writer: random transforms depend on seed, epoch and sample", "[reader][host]") {
  packing on{0, true};
  on.read(10, 14);
  for (std::uint64_t i = 10; i < 14; ++i)
    CHECK(on.word(on.layout.random_bits_at(), i) == sample_random_bits(99, 5, i));
}

TEST_CASE("packing writer: the slot's position in the epoch counts", "[reader][host]") {
  packing on{0, true};
  on.slot.work.first = position{20};
  on.read(0, 4);
  CHECK(on.arrived(0, 3) == 23);
  CHECK(on.word(on.layout.random_bits_at(), 3) == sample_random_bits(99, 5, 23));
}

TEST_CASE("packing writer: the dataset's exception reaches the caller", "[reader][host]") {
  packing on{0, false, sequential{},
             test::make_damaged(make_identity_rows(samples, row_bytes), sample_index{6})};
  CHECK_THROWS_AS(on.read(4, 8), dataset_error);
  on.read(0, 4);
  CHECK(on.arrived(0, 2) == 2);
}

TEST_CASE(
    "packing writer: a row that cannot be read is marked and never kept, and a replacement under "
    "its own number takes its slot",
    "[reader][host]") {
  packing on{samples,
             true,
             sequential{},
             test::make_damaged(make_identity_rows(samples, row_bytes), sample_index{6}),
             {.action = error_action::skip}};
  on.cached->hold(5);
  on.read(4, 8);  // sample 5 is held, so 6 is the second of three rows
  REQUIRE(on.slot.unreadable.size() == 1);
  CHECK(on.slot.unreadable[0].place == 6);
  CHECK(on.slot.unreadable[0].sample == sample_index{6});
  CHECK(on.slot.unreadable[0].at == position{6});
  CHECK(on.keep_number(1, 1) == assembly::not_cached);
  CHECK(on.arrived(1, 0) == 4);
  CHECK(on.arrived(1, 2) == 7);

  on.under_test.replace(on.slot, 6, sample_index{6}, position{6}, on.scratch);
  CHECK(on.scratch.bad.size() == 1);
  CHECK(on.keep_number(1, 1) == assembly::not_cached);

  on.under_test.replace(on.slot, 6, sample_index{39}, position{39}, on.scratch);
  CHECK(on.scratch.bad.empty());
  CHECK(on.source_of(6) == (assembly::arrived | 1U));
  CHECK(on.arrived(1, 1) == 39);
  CHECK(on.keep_number(1, 1) == 39);
  CHECK(on.word(on.layout.random_bits_at(), 6) == sample_random_bits(99, 5, 39));
}

TEST_CASE("packing writer: a held row replaces a bad one without a read", "[reader][host]") {
  packing on{samples,
             false,
             sequential{},
             test::make_damaged(make_identity_rows(samples, row_bytes), sample_index{6}),
             {.action = error_action::skip}};
  on.read(4, 8);
  on.cached->hold(39);
  on.under_test.replace(on.slot, 6, sample_index{39}, position{39}, on.scratch);
  CHECK(on.source_of(6) == 39);
  CHECK(on.keep_number(1, 2) == assembly::not_cached);
}

TEST_CASE("packing writer: a sample beyond the dataset is refused, though no row is read",
          "[reader][host]") {
  packing on{samples, false, doubling{}};
  for (std::uint32_t row = 0; row < samples; ++row) on.cached->hold(row);
  on.slot.work.first = position{2 * samples - 2};
  CHECK(
      test::message_of<usage_error>([&] { on.read(0, 4); }) ==
      "the sampler gives sample 40 at position 80 of epoch 5, but the dataset has samples 0 to 39: "
      "correct its indices()");
}
