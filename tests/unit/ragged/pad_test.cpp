#include <feedline/error.hpp>
#include <feedline/ragged/pad.hpp>

#include "support/checks/catch.hpp"
#include "support/checks/message_of.hpp"
#include "support/datasets/dataset_contract.hpp"
#include "support/datasets/failing_dataset.hpp"
#include "support/datasets/hinted_dataset.hpp"
#include "support/datasets/ragged_samples.hpp"
#include "support/datasets/serialized_dataset.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <vector>

using namespace feedline;

namespace {

using lengths = std::vector<std::uint64_t>;

/// A sample of "pair" as `pad` is to give it, with -7 as padding.
std::vector<std::byte> padded(std::uint64_t sample, std::uint64_t own, std::uint64_t length,
                              std::size_t place) {
  if (place == 1) return test::as_byte_vector(std::vector<std::int32_t>{static_cast<int>(own)});
  auto elements = test::telling_elements(sample, 0, own);
  elements.resize(2 * length, -7);
  return test::as_byte_vector(elements);
}

/// An empty sample of two numbers of a type, padded with a value: the bytes.
std::vector<std::byte> padding_of(element_type type, padding_value value,
                                  std::vector<std::uint64_t> shape = {}) {
  const auto ragged = make_ragged_dataset(memory_field{{"x", type, std::move(shape)}, {}},
                                          own("offset", std::vector<std::uint64_t>{0, 0}));
  const auto dataset = pad(ragged, {.length = 2, .value = std::move(value)});
  return test::read_sample(*dataset, {0})[0];
}

template <class T>
std::vector<std::byte> two_of(T value) {
  return test::as_byte_vector(std::vector<T>{value, value});
}

std::string refusal(element_type type, padding_value value, std::vector<std::uint64_t> shape = {}) {
  return test::message_of<usage_error>(
      [&] { (void)padding_of(type, std::move(value), std::move(shape)); });
}

}  // namespace

TEST_CASE("pad: samples of any length, none too, keep the dataset contract, with their lengths",
          "[dataset][host]") {
  const lengths of{3, 0, 5, 1, 5, 0, 2};
  const std::uint64_t length = GENERATE(5U, 6U, 11U);
  const auto dataset = pad(test::make_telling(of), {.length = length, .value = std::int64_t{-7}});
  test::check_dataset_contract(
      dataset, of.size(),
      {{"pair", element_type::i32, {length, 2}}, {"pair_length", element_type::i32, {}}},
      [&](sample_index sample, std::size_t place) {
        return padded(sample.value, of[sample.value], length, place);
      });
}

TEST_CASE("pad: samples that are read in pieces keep the dataset contract", "[dataset][host]") {
  const lengths of{30, 0, 9'000, 1, 8'192, 17};
  const auto values = std::make_shared<const test::hinted_dataset>(
      make_memory_dataset({own("pair", test::telling_values(of), {2})}));  // has no rows()
  const auto ragged =
      make_ragged_dataset(values, make_memory_dataset({own("offset", test::offsets_of(of))}));
  test::check_dataset_contract(
      pad(ragged, {.length = 9'001, .value = std::int64_t{-7}}), of.size(),
      {{"pair", element_type::i32, {9'001, 2}}, {"pair_length", element_type::i32, {}}},
      [&](sample_index sample, std::size_t place) {
        return padded(sample.value, of[sample.value], 9'001, place);
      });
}

TEST_CASE("pad: with no length given, it is the longest sample's", "[dataset][host]") {
  const auto dataset = pad(test::make_telling({3, 0, 5, 1}));
  CHECK(dataset->fields()[0] == field{"pair", element_type::i32, {5, 2}});
}

TEST_CASE("pad: a longer sample is cut if that is asked for, and its length is that of the rest",
          "[dataset][host]") {
  const lengths of{3, 0, 5, 4};
  const auto dataset =
      pad(test::make_telling(of),
          {.length = 4, .value = std::int64_t{-7}, .longer = pad_longer::truncate});
  test::check_dataset_contract(
      dataset, of.size(),
      {{"pair", element_type::i32, {4, 2}}, {"pair_length", element_type::i32, {}}},
      [&](sample_index sample, std::size_t place) {
        return padded(sample.value, std::min<std::uint64_t>(4, of[sample.value]), 4, place);
      });
}

TEST_CASE("pad: only the kept part of a cut sample is read", "[dataset][host]") {
  const auto values = std::make_shared<const test::hinted_dataset>(
      make_memory_dataset({own("x", std::vector<std::uint8_t>(100'000))}));
  const auto dataset =
      pad(make_ragged_dataset(
              values, make_memory_dataset({own("offset", std::vector<std::uint64_t>{0, 100'000})})),
          {.length = 3, .longer = pad_longer::truncate});
  (void)test::read_sample(*dataset, {0});
  CHECK(values->reads().size() == 3);
}

TEST_CASE("pad: a longer sample is refused, naming it and its length, before anything is read",
          "[dataset][host]") {
  CHECK(test::message_of<dataset_error>([] {
          (void)pad(test::make_telling({3, 0, 5, 6}), {.length = 4});
        }) ==
        "field 'pair', sample 2: has 5 elements, more than the 4 of pad_options::length: raise it, "
        "or ask for pad_longer::truncate");
}

TEST_CASE("pad: a number is padding in whatever type the field has", "[dataset][host]") {
  CHECK(padding_of(element_type::u8, 255) == two_of(std::uint8_t{255}));
  CHECK(padding_of(element_type::i8, -128) == two_of(std::int8_t{-128}));
  CHECK(padding_of(element_type::u16, 50'256) == two_of(std::uint16_t{50'256}));
  CHECK(padding_of(element_type::i16, -2) == two_of(std::int16_t{-2}));
  CHECK(padding_of(element_type::u32, 4'000'000'000) == two_of(std::uint32_t{4'000'000'000}));
  CHECK(padding_of(element_type::i32, -100.0) == two_of(std::int32_t{-100}));
  CHECK(padding_of(element_type::u64, INT64_MAX) == two_of(std::uint64_t{INT64_MAX}));
  CHECK(padding_of(element_type::i64, INT64_MIN) == two_of(INT64_MIN));
  CHECK(padding_of(element_type::i64, -9223372036854775808.0) == two_of(INT64_MIN));
  CHECK(padding_of(element_type::f16, -2) == two_of(std::uint16_t{0xC000}));
  CHECK(padding_of(element_type::bf16, 1.0) == two_of(std::uint16_t{0x3F80}));
  CHECK(padding_of(element_type::f32, 0.5) == two_of(0.5F));
  CHECK(padding_of(element_type::f32, -1) == two_of(-1.0F));
  CHECK(padding_of(element_type::f64, 0.1) == two_of(0.1));
  CHECK(padding_of(element_type::boolean, 1) == two_of(std::uint8_t{1}));
  constexpr double infinity = std::numeric_limits<double>::infinity();
  CHECK(padding_of(element_type::f32, -infinity) ==
        two_of(-std::numeric_limits<float>::infinity()));
  CHECK(padding_of(element_type::f16, infinity) == two_of(std::uint16_t{0x7C00}));
  CHECK(padding_of(element_type::f16, std::nan("")) == two_of(std::uint16_t{0x7FFF}));
}

TEST_CASE("pad: bytes are padding as they are, of a whole element or of a number of it",
          "[dataset][host]") {
  const std::vector<std::byte> bytes{std::byte{1}, std::byte{2}, std::byte{3},
                                     std::byte{4}, std::byte{5}, std::byte{6}};
  const std::vector<std::byte> one(bytes.begin(), bytes.begin() + 2);
  CHECK(padding_of(element_type::u16, one) == two_of(std::uint16_t{0x0201}));
  std::vector<std::byte> twice(2 * bytes.size());
  std::copy(bytes.begin(), bytes.end(), std::copy(bytes.begin(), bytes.end(), twice.begin()));
  CHECK(padding_of(element_type::u16, bytes, {3}) == twice);
  CHECK(padding_of(element_type::u16, one, {3}) ==
        test::as_byte_vector(std::vector<std::uint16_t>(6, 0x0201)));
}

TEST_CASE("pad: padding that is no value of the field is refused", "[dataset][host]") {
  CHECK(refusal(element_type::u8, 256) ==
        "pad: the padding value 256 is not a value of field x: uint8[]");
  CHECK(refusal(element_type::u16, 0.5) ==
        "pad: the padding value 0.5 is not a value of field x: uint16[]");
  CHECK(refusal(element_type::u16, std::vector<std::byte>(3)) ==
        "pad: the padding value of 3 bytes is not a value of field x: uint16[]");
  for (const auto& [type, value] : std::vector<std::pair<element_type, padding_value>>{
           {element_type::u8, -1},
           {element_type::i8, 128},
           {element_type::i8, -129},
           {element_type::u32, -1},
           {element_type::i32, std::int64_t{1} << 31},
           {element_type::u64, -1},
           {element_type::i64, 9223372036854775808.0},
           {element_type::i64, std::nan("")},
           {element_type::boolean, 2},
           {element_type::f32, 1e39},
           {element_type::f16, 65'536},
           {element_type::bf16, 3.4e38 * 1.001},
           {element_type::u16, std::vector<std::byte>{}}}) {
    INFO(to_string(type));
    CHECK(refusal(type, value).find("is not a value of field x") != std::string::npos);
  }
}

TEST_CASE("pad: invalid options are refused, with the reason", "[dataset][host]") {
  const auto message = [](const ragged_dataset_ptr& of, const pad_options& options) {
    return test::message_of<usage_error>([&] { (void)pad(of, options); });
  };
  CHECK(message(nullptr, {}) == "pad: the dataset is null");
  CHECK(message(test::make_telling({1}), {.longer = static_cast<pad_longer>(9)}) ==
        "pad_options::longer is 9, which is not a value of its type: say one of error, truncate");
  CHECK(message(test::make_telling({0, 0}), {}) ==
        "pad: no sample has an element, so pad_options::length must give the length");
  const std::string too_long =
      "pad: a length of 2147483648 is more than an int32 can count; ask for fewer elements, and "
      "pad_longer::truncate";
  CHECK(message(test::make_telling({1}), {.length = std::uint64_t{1} << 31}) == too_long);
  CHECK(message(std::make_shared<const test::only_lengths>(lengths{1, std::uint64_t{1} << 31}),
                {}) == too_long);
}

TEST_CASE("pad: a sample that claims to be huge is cut like any other", "[dataset][host]") {
  const auto huge = std::make_shared<const test::only_lengths>(lengths{1, UINT64_MAX});
  const auto dataset = pad(huge, {.length = 2, .longer = pad_longer::truncate});
  CHECK(test::read_sample(*dataset, {1})[1] == test::as_byte_vector(std::vector<std::int32_t>{2}));
}

TEST_CASE("pad: an error names the sample", "[dataset][host]") {
  const auto ragged = make_ragged_dataset(
      test::make_damaged(make_memory_dataset({own("x", std::vector<std::uint8_t>(8))}), {4}),
      make_memory_dataset({own("offset", std::vector<std::uint64_t>{0, 3, 3, 8})}));
  CHECK(test::message_of<dataset_error>([&] { (void)test::read_sample(*pad(ragged), {2}); }) ==
        "/data/rows: field 'row', sample 2, byte 4096: checksum mismatch (sample 4 of the dataset "
        "of values)");
  CHECK(test::message_of<dataset_error>([&] { (void)test::read_sample(*pad(ragged), {3}); }) ==
        "sample 3: there is no such sample: the dataset has 3");
}

TEST_CASE("pad: it is read and hinted at as the ragged dataset is", "[dataset][host]") {
  const auto offsets = make_memory_dataset({own("offset", std::vector<std::uint64_t>{0, 2, 3})});
  const auto values = make_memory_dataset({own("x", std::vector<std::uint8_t>(3))});
  const auto hinted = std::make_shared<const test::hinted_dataset>(values);
  const auto dataset = pad(make_ragged_dataset(hinted, offsets));
  CHECK(dataset->concurrency() == read_concurrency::parallel);
  CHECK(dataset->wants_prefetch());
  dataset->prefetch(std::vector<sample_index>{{1}, {0}});
  CHECK(hinted->hints() == std::vector<std::uint64_t>{2, 0, 1});
  CHECK(pad(make_ragged_dataset(std::make_shared<const test::serialized_dataset>(values), offsets))
            ->concurrency() == read_concurrency::serialized);
}
