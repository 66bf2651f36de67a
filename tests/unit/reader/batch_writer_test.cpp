#include <feedline/error.hpp>
#include <feedline/sampler/shuffle.hpp>

#include "dataset/held_rows.hpp"
#include "device/sample_random_bits.hpp"
#include "device/transform_row.hpp"
#include "reader/slot_writer.hpp"
#include "support/checks/catch.hpp"
#include "support/datasets/dataset_contract.hpp"
#include "support/datasets/failing_dataset.hpp"
#include "support/datasets/identity_dataset.hpp"
#include "support/devices/scripted_device.hpp"
#include "transform/field_conversions.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

using namespace feedline;
using namespace feedline::detail;
using feedline::test::make_identity_rows;

namespace {

constexpr std::byte untouched{0xEE};
constexpr std::uint64_t samples = 40;
constexpr std::uint64_t epoch = 5;
constexpr std::uint64_t seed = 17;
constexpr std::size_t row_bytes = 24;

/// "row" is normalized and turned at random, "note" becomes 300 classes, "id" stays.
std::vector<field> image_fields() {
  return {{"id", element_type::u64, {}},
          {"row", element_type::u8, {2, 4, 3}},
          {"note", element_type::u8, {}}};
}
std::vector<field_transform> transforms() {
  return {{.field = "row",
           .scale = 1 / 255.0,
           .layout = image_layout::hwc,
           .to_layout = image_layout::chw,
           .flip = 0.5,
           .crop = image_crop{.height = 2, .width = 3, .padding = 1}},
          {.field = "note", .to = element_type::f16, .one_hot = 30}};
}

/// Identity rows with another shape.
class images final : public dataset {
 public:
  std::uint64_t size() const override { return samples; }
  std::vector<field> fields() const override { return image_fields(); }
  void do_read(const read_request& request) const override { of_->read(request); }

 private:
  dataset_ptr of_ = make_identity_rows(samples, row_bytes);
};

/// Positions themselves, up to one; notes how many each call asks for.
struct ending {
  std::uint64_t end;
  std::shared_ptr<std::vector<std::size_t>> calls = std::make_shared<std::vector<std::size_t>>();

  std::uint64_t size(std::uint64_t) const { return end; }
  void indices(std::uint64_t, std::uint64_t, position first, std::span<sample_index> out) const {
    calls->push_back(out.size());
    if (first.value + out.size() > end) throw usage_error{"behind the end"};
    for (std::uint64_t i = 0; i < out.size(); ++i) out[i] = sample_index{first.value + i};
  }
};

/// A writer, and one slot of two batches of ten.
struct converting {
  explicit converting(dataset_ptr of = std::make_shared<const images>(),
                      sampler by = shuffle{.seed = 2})
      : data{std::move(of)},
        order{std::move(by)},
        source{data, order, seed},
        under_test{source, batches, rows, converted.conversions},
        slot{std::make_shared<test::scripted_device>()},
        memory(batches.slot_bytes(), untouched) {
    slot.data = memory.data();
    slot.work.pass = std::make_shared<epoch_pass>(epoch);
    slot.work.first = position{4};
  }

  void read(sample_run run) { under_test.read(slot, run, scratch); }

  /// Bytes of a sample's field in the slot.
  std::vector<std::byte> found(std::uint64_t sample, std::size_t place) const {
    const std::byte* const row = memory.data() + sample / 10 * batches.batch_bytes() +
                                 batches.field_offset(place) +
                                 sample % 10 * batches.row_bytes(place);
    return {row, row + batches.row_bytes(place)};
  }
  /// Expected bytes of a sample's field.
  std::vector<std::byte> expected(std::uint64_t sample, std::size_t place) const {
    sample_index index{};
    order.indices(samples, epoch, position{4 + sample}, {&index, 1});
    const auto row = test::read_sample(*data, index)[place];
    std::vector<std::byte> value(batches.row_bytes(place));
    transform_row(converted.conversions[place], row.data(), row.size(),
                  sample_random_bits(seed, epoch, index.value), value.data());
    return value;
  }

  dataset_ptr data;
  sampler order;
  converted_fields converted = convert_fields(image_fields(), transforms());
  slot_layout rows{image_fields(), 10, 2};
  slot_layout batches{converted.fields, 10, 2};
  sample_source source;
  batch_writer under_test;
  staging_slot slot;
  reader_scratch scratch;
  std::vector<std::byte> memory;
};

}  // namespace

TEST_CASE("batch writer: each sample's fields are converted into their positions in its batch",
          "[reader][host]") {
  converting on;
  for (const sample_run run : {sample_run{10, 14}, {0, 7}, {7, 10}, {14, 20}}) on.read(run);
  for (std::uint64_t sample = 0; sample < 20; ++sample) {
    CAPTURE(sample);
    for (std::size_t place = 0; place < 3; ++place)
      CHECK(on.found(sample, place) == on.expected(sample, place));
  }
}

TEST_CASE("batch writer: a run touches nothing but its own samples", "[reader][host]") {
  converting on;
  on.read({12, 15});
  for (std::uint64_t sample = 0; sample < 20; ++sample) {
    CAPTURE(sample);
    for (std::size_t place = 0; place < 3; ++place) {
      if (sample >= 12 && sample < 15) {
        CHECK(on.found(sample, place) == on.expected(sample, place));
      } else {
        CHECK(on.found(sample, place) ==
              std::vector<std::byte>(on.batches.row_bytes(place), untouched));
      }
    }
  }
}

TEST_CASE("batch writer: cutting into runs makes no difference", "[reader][host]") {
  converting whole;
  whole.read({0, 10});
  whole.read({10, 20});
  converting single;
  for (std::uint64_t sample = 20; sample-- > 0;) single.read({sample, sample + 1});
  CHECK(single.memory == whole.memory);
}

TEST_CASE("batch writer: the dataset's exception reaches the caller", "[reader][host]") {
  converting on{test::make_damaged(std::make_shared<const images>(), sample_index{6})};
  std::uint64_t failures = 0;
  for (std::uint64_t sample = 0; sample < 20; ++sample) {
    try {
      on.read({sample, sample + 1});
    } catch (const dataset_error& failure) {
      CHECK(failure.sample() == 6);
      ++failures;
    }
  }
  std::vector<sample_index> order(20);
  on.order.indices(samples, epoch, position{4}, order);
  CHECK(failures ==
        static_cast<std::uint64_t>(std::count(order.begin(), order.end(), sample_index{6})));
}

TEST_CASE("batch writer: a request's samples are drawn at once", "[reader][host]") {
  const ending order{samples};
  converting on{std::make_shared<const images>(), order};
  on.scratch.request = {4, 20};
  for (const sample_run run : {sample_run{4, 10}, {10, 14}, {14, 20}}) on.read(run);
  CHECK(*order.calls == std::vector<std::size_t>{16});
  for (std::uint64_t sample = 4; sample < 20; ++sample) {
    CAPTURE(sample);
    CHECK(on.found(sample, 1) == on.expected(sample, 1));
  }
}

TEST_CASE(
    "batch writer: the first runs of a request are read even if not all its samples can be drawn",
    "[reader][host]") {
  const ending order{4 + 14};
  converting on{std::make_shared<const images>(), order};
  on.scratch.request = {0, 20};
  on.read({0, 10});
  on.read({10, 14});
  CHECK_THROWS_AS(on.read({14, 20}), usage_error);
  CHECK(*order.calls == std::vector<std::size_t>{20, 10, 10, 4, 6});
  for (std::uint64_t sample = 0; sample < 14; ++sample) {
    CAPTURE(sample);
    CHECK(on.found(sample, 1) == on.expected(sample, 1));
  }
}

TEST_CASE("batch writer: rows in memory are copied across batches, as they are read batch by batch",
          "[reader][host]") {
  // Short rows are asked for ahead one by one, of long ones the first lines.
  const std::size_t bytes = GENERATE(std::size_t{24}, std::size_t{3001});
  const auto data = make_identity_rows(samples, bytes);
  const slot_layout layout{data->fields(), 10, 3};
  const sampler order = shuffle{.seed = 3};
  sample_source source{data, order, seed};
  staging_slot slot{std::make_shared<test::scripted_device>()};
  slot.work.pass = std::make_shared<epoch_pass>(epoch);
  slot.work.first = position{2};
  reader_scratch scratch;
  const auto read = [&](batch_writer& by, std::vector<sample_run> runs) {
    std::vector<std::byte> memory(layout.slot_bytes(), untouched);
    slot.data = memory.data();
    for (const sample_run run : runs) by.read(slot, run, scratch);
    return memory;
  };
  batch_writer reading{source, layout, layout, {}};
  batch_writer copying{source, layout, layout, {}, held_rows{*data}};
  CHECK_FALSE(reading.reads_across_batches());
  REQUIRE(copying.reads_across_batches());
  CHECK(read(copying, {{0, 30}}) == read(reading, {{0, 10}, {10, 20}, {20, 30}}));
  CHECK(read(copying, {{3, 24}}) == read(reading, {{3, 10}, {10, 20}, {20, 24}}));
  CHECK(read(copying, {{17, 21}}) == read(reading, {{17, 20}, {20, 21}}));
  CHECK(read(copying, {{10, 20}}) == read(reading, {{10, 20}}));
  CHECK(read(copying, {{12, 13}}) == read(reading, {{12, 13}}));
}

TEST_CASE("batch writer: rows in memory that are converted are read", "[reader][host]") {
  const auto data = make_identity_rows(samples, row_bytes);
  const auto converted = convert_fields(image_fields(), transforms());
  const slot_layout rows{image_fields(), 10, 2};
  sample_source source{data, shuffle{.seed = 3}, seed};
  const batch_writer under_test{source, slot_layout{converted.fields, 10, 2}, rows,
                                converted.conversions, held_rows{*data}};
  CHECK_FALSE(under_test.reads_across_batches());
}
