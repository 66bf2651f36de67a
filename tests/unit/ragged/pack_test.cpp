#include <feedline/error.hpp>
#include <feedline/ragged/pack.hpp>

#include "support/checks/catch.hpp"
#include "support/checks/message_of.hpp"
#include "support/datasets/dataset_contract.hpp"
#include "support/datasets/failing_dataset.hpp"
#include "support/datasets/hinted_dataset.hpp"
#include "support/datasets/ragged_samples.hpp"

#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

using namespace feedline;

namespace {

using lengths = std::vector<std::uint64_t>;
using parts = std::vector<packed_part>;

bool is_close(double a, double b) {
  return std::abs(a - b) < 1e-9;
}

packed_part part(std::uint64_t sample, std::uint64_t count, std::uint64_t first = 0) {
  return {sample_index{sample}, first, count};
}

/// Expected row of these parts of "pair", with -7 as padding.
std::vector<std::byte> packed(const parts& of, std::uint64_t capacity, std::uint64_t max_samples,
                              std::size_t place) {
  std::vector<std::int32_t> values;
  std::vector<std::int32_t> offsets{0};
  for (const packed_part& one : of) {
    const auto elements = test::telling_elements(one.sample.value, one.first, one.count);
    values.insert(values.end(), elements.begin(), elements.end());
    offsets.push_back(static_cast<std::int32_t>(values.size() / 2));
  }
  values.resize(2 * capacity, -7);
  offsets.resize(max_samples + 1, offsets.back());
  if (place == 0) return test::as_byte_vector(values);
  if (place == 1)
    return test::as_byte_vector(std::vector<std::int32_t>{static_cast<int>(of.size())});
  return test::as_byte_vector(offsets);
}

/// Checks that rows hold these parts, in all that a dataset promises.
// Only `pack` makes one.
static_assert(std::is_abstract_v<packed_dataset>);

void check_rows(const std::shared_ptr<const packed_dataset>& dataset,
                const std::vector<parts>& rows, std::uint64_t capacity, std::uint64_t max_samples) {
  REQUIRE(dataset->size() == rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    INFO("row " << i);
    CHECK(dataset->parts_of({i}) == rows[i]);
  }
  CHECK(dataset->max_samples() == max_samples);
  test::check_dataset_contract(dataset, rows.size(),
                               {{"pair", element_type::i32, {capacity, 2}},
                                {"pair_count", element_type::i32, {}},
                                {"pair_offsets", element_type::i32, {max_samples + 1}}},
                               [&](sample_index row, std::size_t place) {
                                 return packed(rows[row.value], capacity, max_samples, place);
                               });
}

/// Every element of every sample stands once, in order, in rows that are not too full.
void check_all_packed(const packed_dataset& dataset, const lengths& of, std::uint64_t capacity) {
  std::uint64_t sample = 0;
  std::uint64_t done = 0;  // number of that sample's elements already placed
  std::uint64_t elements = 0;
  for (std::uint64_t row = 0; row < dataset.size(); ++row) {
    const auto held = dataset.parts_of({row});
    REQUIRE_FALSE(held.empty());
    REQUIRE(held.size() <= dataset.max_samples());
    std::uint64_t used = 0;
    for (const packed_part& one : held) {
      REQUIRE(one.sample.value == sample);
      REQUIRE(one.first == done);
      used += one.count;
      done += one.count;
      if (done == of[sample]) {
        ++sample;
        done = 0;
      }
    }
    REQUIRE(used <= capacity);
    elements += used;
  }
  CHECK(sample == of.size());
  const double room = static_cast<double>(dataset.size() * capacity);
  CHECK(is_close(dataset.padding_share(), 1 - static_cast<double>(elements) / room));
}

constexpr std::int64_t minus_seven = -7;

}  // namespace

TEST_CASE("pack: samples share rows in their order, and a row that one does not fit in is closed",
          "[dataset][host]") {
  const auto dataset =
      pack(test::make_telling({3, 4, 2, 8, 1, 1}), {.capacity = 8, .value = minus_seven});
  check_rows(dataset,
             {{part(0, 3), part(1, 4)}, {part(2, 2)}, {part(3, 8)}, {part(4, 1), part(5, 1)}}, 8,
             2);
  CHECK(is_close(dataset->padding_share(), 13.0 / 32));
}

TEST_CASE("pack: a row takes no more samples than was asked for", "[dataset][host]") {
  const lengths of{1, 1, 1, 1, 1};
  check_rows(pack(test::make_telling(of), {.capacity = 8, .max_samples = 2, .value = minus_seven}),
             {{part(0, 1), part(1, 1)}, {part(2, 1), part(3, 1)}, {part(4, 1)}}, 8, 2);
  check_rows(pack(test::make_telling(of), {.capacity = 8, .max_samples = 7, .value = minus_seven}),
             {{part(0, 1), part(1, 1), part(2, 1), part(3, 1), part(4, 1)}}, 8, 7);
}

TEST_CASE("pack: a sample of no elements is one of its row's, and counts as one",
          "[dataset][host]") {
  check_rows(pack(test::make_telling({0, 3, 0, 0, 1, 0}), {.capacity = 3, .value = minus_seven}),
             {{part(0, 0), part(1, 3), part(2, 0)}, {part(3, 0), part(4, 1), part(5, 0)}}, 3, 3);
  check_rows(pack(test::make_telling({0, 0, 0}), {.capacity = 2, .value = minus_seven}),
             {{part(0, 0), part(1, 0)}, {part(2, 0)}}, 2, 2);
}

TEST_CASE("pack: a longer sample is split over rows of its own, and its rest begins one",
          "[dataset][host]") {
  check_rows(pack(test::make_telling({1, 9, 2, 1, 8, 0, 1}),
                  {.capacity = 4, .value = minus_seven, .longer = pack_longer::split}),
             {{part(0, 1)},
              {part(1, 4)},
              {part(1, 4, 4)},
              {part(1, 1, 8), part(2, 2), part(3, 1)},
              {part(4, 4)},
              {part(4, 4, 4), part(5, 0)},
              {part(6, 1)}},
             4, 3);
}

TEST_CASE("pack: every element of many samples appears once, in order", "[dataset][host]") {
  const std::uint64_t max_samples = GENERATE(0U, 1U, 5U);
  const std::uint64_t capacity = GENERATE(100U, 37U);
  const lengths of = test::skewed_lengths(2000, 100);
  const auto ragged = std::make_shared<const test::only_lengths>(of);
  const auto dataset = pack(
      ragged, {.capacity = capacity, .max_samples = max_samples, .longer = pack_longer::split});
  check_all_packed(*dataset, of, capacity);
}

TEST_CASE("pack: texts of many lengths leave little of a row to padding", "[dataset][host]") {
  const auto ragged = std::make_shared<const test::only_lengths>(test::skewed_lengths(10'000, 256));
  CHECK(pack(ragged, {.capacity = 256})->padding_share() < 0.25);
  CHECK(pack(ragged, {.capacity = 2048})->padding_share() < 0.04);
}

TEST_CASE("pack: no sample at all makes no row", "[dataset][host]") {
  const auto dataset = pack(test::make_telling({}), {.capacity = 4});
  check_rows(dataset, {}, 4, 1);
  CHECK(dataset->padding_share() == 0);
}

TEST_CASE("pack: a longer sample is refused, naming it and its length", "[dataset][host]") {
  CHECK(test::message_of<dataset_error>([] {
          (void)pack(test::make_telling({3, 0, 5, 6}), {.capacity = 4});
        }) ==
        "field 'pair', sample 2: has 5 elements, more than the 4 of pack_options::capacity: raise "
        "it, or ask for pack_longer::split");
}

TEST_CASE("pack: invalid options are refused, with the reason", "[dataset][host]") {
  const auto message = [](const ragged_dataset_ptr& of, const pack_options& options) {
    return test::message_of<usage_error>([&] { (void)pack(of, options); });
  };
  const auto some = test::make_telling({3});
  CHECK(message(nullptr, {.capacity = 4}) == "pack: the dataset is null");
  CHECK(message(some, {.capacity = 4, .longer = static_cast<pack_longer>(2)}) ==
        "pack_options::longer is 2, which is not a value of its type: say one of error, split");
  CHECK(message(some, {}) == "pack_options::capacity is 0; say how many elements a row has");
  CHECK(message(some, {.capacity = INT32_MAX}) ==
        "pack_options::capacity is 2147483647, more than an int32 can count to; at most "
        "2147483646");
  CHECK(
      message(some, {.capacity = 4, .max_samples = UINT64_MAX}) ==
      "pack_options::max_samples is 18446744073709551615, more than an int32 can count to; at most "
      "2147483646");
  CHECK(message(some, {.capacity = 4, .value = 0.5}) ==
        "pack: the padding value 0.5 is not a value of field pair: int32[2]");
}

TEST_CASE("pack: a sample that claims to be huge is refused before its rows are listed",
          "[dataset][host]") {
  const auto huge = std::make_shared<const test::only_lengths>(lengths{1, UINT64_MAX});
  CHECK(test::message_of<usage_error>(
            [&] { (void)pack(huge, {.capacity = 2, .longer = pack_longer::split}); }) ==
        "pack: sample 1 of 18446744073709551615 elements takes 9223372036854775808 rows, for which "
        "there is no memory, at 8 bytes each");
}

TEST_CASE("pack: an error names the row, and tells the sample", "[dataset][host]") {
  const auto ragged = make_ragged_dataset(
      test::make_damaged(make_memory_dataset({own("x", std::vector<std::uint8_t>(8))}), {4}),
      make_memory_dataset({own("offset", std::vector<std::uint64_t>{0, 3, 3, 8})}));
  const auto dataset = pack(ragged, {.capacity = 5});
  REQUIRE(dataset->size() == 2);
  CHECK(test::message_of<dataset_error>([&] {
          (void)test::read_samples(*dataset, {{0}, {1}});
        }) ==
        "/data/rows: field 'row', sample 1, byte 4096: checksum mismatch (sample 4 of the dataset "
        "of values) (sample 2 of the ragged dataset that this packs)");
  CHECK(test::message_of<dataset_error>([&] { (void)test::read_sample(*dataset, {2}); }) ==
        "sample 2: there is no such sample: the dataset has 2");
  CHECK(test::message_of<dataset_error>([&] { (void)dataset->parts_of({2}); }) ==
        "sample 2: there is no such sample: the dataset has 2");
}

TEST_CASE("pack: hints about rows become hints about their samples", "[dataset][host]") {
  const auto hinted = std::make_shared<const test::hinted_dataset>(
      make_memory_dataset({own("x", std::vector<std::uint8_t>(6))}));
  const auto dataset = pack(
      make_ragged_dataset(
          hinted, make_memory_dataset({own("offset", std::vector<std::uint64_t>{0, 2, 3, 6})})),
      {.capacity = 3});
  CHECK(dataset->wants_prefetch());
  CHECK(dataset->concurrency() == read_concurrency::parallel);
  dataset->prefetch(std::vector<sample_index>{{1}, {9}, {0}});
  CHECK(hinted->hints() == std::vector<std::uint64_t>{3, 4, 5, 0, 1, 2});
}
