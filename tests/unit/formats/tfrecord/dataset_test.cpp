#include <feedline/error.hpp>
#include <feedline/formats/open.hpp>
#include <feedline/formats/tfrecord.hpp>

#include "formats/crc32c.hpp"
#include "support/checks/catch.hpp"
#include "support/checks/contains.hpp"
#include "support/checks/log_capture.hpp"
#include "support/checks/message_of.hpp"
#include "support/datasets/dataset_contract.hpp"
#include "support/datasets/labels_once.hpp"
#include "support/files/temporary_directory.hpp"
#include "support/files/tfrecord_bytes.hpp"

#include <cstring>
#include <set>
#include <string>
#include <vector>

using namespace feedline;
using test::byte_vector;
using test::bytes_in;
using test::joined;
using test::memory_of;
using namespace test::tfrecord;

namespace {

constexpr auto i64 = element_type::i64;
constexpr auto f32 = element_type::f32;
constexpr auto u8 = element_type::u8;
constexpr auto i32 = element_type::i32;

/// "label", one number; "box", two floats; "words", any number; "name", text; "raw", 3 bytes.
byte_vector record_of(std::int64_t i, bool is_packed = true) {
  std::vector<std::int64_t> words;
  for (std::int64_t k = 0; k < i % 4; ++k) words.push_back(k == 0 ? -i : i << 40);
  const auto x = static_cast<float>(i);
  std::vector<named> features{
      {"label", int64_feature({i * 1000 - 7}, is_packed)},
      {"box", float_feature({x, -x}, is_packed)},
      {"words", int64_feature(words, is_packed)},
      {"name", bytes_feature({bytes_in(std::string(static_cast<std::size_t>(i % 3), 'n'))})},
      {"raw", bytes_feature({byte_vector(3, std::byte(i))})}};
  if (i % 2 == 1) std::swap(features.front(), features.back());  // a map has no order
  return example(features);
}

byte_vector file_of(std::int64_t first, std::int64_t count, bool is_packed = true) {
  byte_vector file;
  for (std::int64_t i = first; i < first + count; ++i)
    file = joined({file, framed(record_of(i, is_packed))});
  return file;
}

template <class T>
std::vector<T> values_of(const std::vector<std::byte>& bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

}  // namespace

TEST_CASE("crc32c: the check value, and any length and beginning as bit by bit",
          "[dataset][host]") {
  CHECK(detail::crc32c(bytes_in("123456789")) == 0xe3069283);
  const byte_vector bytes = test::counting_bytes(300);
  for (std::size_t begin = 0; begin < 9; ++begin)
    for (std::size_t count = 0; count < 70; ++count) {
      const auto part = std::span{bytes}.subspan(begin, count);
      const std::uint32_t expected = test::slow_crc32c(part);
      REQUIRE(detail::crc32c(part) == expected);
      REQUIRE(detail::crc32c_by_tables(part) == expected);
      const std::uint32_t before = detail::crc32c(part.first(count / 2));
      REQUIRE(detail::crc32c(part.subspan(count / 2), before) == expected);
      REQUIRE(detail::crc32c_by_tables(part.subspan(count / 2), before) == expected);
    }
}

TEST_CASE("crc32c: bytes that are computed in lanes, and those after them", "[dataset][host]") {
  const byte_vector bytes = test::counting_bytes(9300);
  for (const unsigned begin : {0U, 5U})
    for (const unsigned count :
         {3064U, 3071U, 3072U, 3073U, 3080U, 6143U, 6144U, 6161U, 9216U, 9229U}) {
      const auto part = std::span{bytes}.subspan(begin, count);
      const std::uint32_t expected = test::slow_crc32c(part);
      REQUIRE(detail::crc32c(part) == expected);
      REQUIRE(detail::crc32c_by_tables(part) == expected);
      const std::uint32_t before = detail::crc32c(part.first(100));
      REQUIRE(detail::crc32c(part.subspan(100), before) == expected);
    }
}

TEST_CASE("tfrecord: features of all files become fixed and ragged fields, told by content",
          "[dataset][host]") {
  const bool is_packed = GENERATE(true, false);
  const test::temporary_directory folder;
  (void)folder.write("b-1.any", file_of(0, 20, is_packed));
  (void)folder.write("b-2.any", byte_vector{});
  (void)folder.write("b-3.any", file_of(20, 17, is_packed));
  CHECK(detect_format(folder.path() / "b-1.any") == "tfrecord");
  const auto data = open_tfrecord({folder.path() / "b-*.any"},
                                  {.pad = {{"name", {.length = 2, .value = std::int64_t{'.'}}}}});
  test::check_dataset_contract(
      data, 37,
      {{"label", i64, {}},
       {"box", f32, {2}},
       {"words", i64, {3}},
       {"words_length", i32, {}},
       {"name", u8, {2}},
       {"name_length", i32, {}},
       {"raw", u8, {3}}},
      [&](sample_index sample, std::size_t place) {
        const auto i = static_cast<std::int64_t>(sample.value);
        const auto x = static_cast<float>(i);
        std::vector<std::int64_t> words(3);
        for (std::int64_t k = 0; k < i % 4; ++k)
          words[static_cast<std::size_t>(k)] = k == 0 ? -i : i << 40;
        std::string name(static_cast<std::size_t>(i % 3), 'n');
        name.resize(2, '.');
        switch (place) {
          case 0:
            return memory_of<std::int64_t>({i * 1000 - 7});
          case 1:
            return memory_of<float>({x, -x});
          case 2:
            return memory_of(words);
          case 3:
            return memory_of<std::int32_t>({static_cast<std::int32_t>(i % 4)});
          case 4:
            return bytes_in(name);
          case 5:
            return memory_of<std::int32_t>({static_cast<std::int32_t>(i % 3)});
          default:
            return byte_vector(3, std::byte(i));
        }
      });
}

TEST_CASE("tfrecord: fields are chosen by name, and listed with what is left out",
          "[dataset][host]") {
  const test::temporary_directory folder;
  const auto record = [](std::int64_t i) {
    return framed(example({{"label", int64_feature({i})},
                           {"parts", bytes_feature({bytes_in("a"), bytes_in("b")})},
                           {"nothing", byte_vector{}},
                           {"tokens", int64_feature({1, i})}}));
  };
  const auto file = folder.write("a", joined({record(1), record(2)}));
  const auto chosen = open(file, {.fields = {"tokens", "label"}});
  CHECK(chosen->fields() == std::vector<field>{{"tokens", i64, {2}}, {"label", i64, {}}});
  CHECK(values_of<std::int64_t>(test::read_sample(*chosen, {1})[0]) ==
        std::vector<std::int64_t>{1, 2});
  const auto listed = list_fields(file);
  REQUIRE(listed.size() == 4);
  CHECK(listed[0].name == "label");
  CHECK(listed[0].samples == 2);
  CHECK(listed[1].spec == field{"tokens", i64, {2}});
  CHECK(listed[2].name == "parts");
  CHECK(test::contains(listed[2].left_out, "has several values of bytes in a record"));
  CHECK(test::contains(listed[3].left_out, "has no value in the 2 records"));
  test::log_capture log;
  CHECK(open(file)->fields().size() == 2);
  CHECK(test::contains(log.text(), "features are left out: 'parts' has several values"));
  CHECK(test::contains(
      test::message_of<usage_error>([&] { (void)open(file, {.fields = {"parts"}}); }),
      "'parts' cannot be a field: it has several values of bytes"));
  CHECK(test::contains(
      test::message_of<usage_error>([&] { (void)open(file, {.fields = {"labels"}}); }), "labels"));
}

TEST_CASE("tfrecord: the lists of a SequenceExample are ragged over their steps",
          "[dataset][host]") {
  const test::temporary_directory folder;
  const auto record = [](int steps) {
    std::vector<byte_vector> pairs;
    std::vector<byte_vector> texts;
    for (int k = 0; k < steps; ++k) {
      pairs.push_back(float_feature({static_cast<float>(k), 0.5F}));
      texts.push_back(bytes_feature({byte_vector(2, std::byte(k))}));
    }
    return framed(joined({map_of(1, {{"id", int64_feature({steps})}}),
                          map_of(2, {{"pair", feature_list(pairs)},
                                     {"id", feature_list({int64_feature({8})})},
                                     {"text", feature_list(texts)}})}));
  };
  const auto file = folder.write("a", joined({record(3), record(1), record(0)}));
  const auto data = open(file);
  CHECK(data->fields() == std::vector<field>{{"id", i64, {}},
                                             {"pair", f32, {3, 2}},
                                             {"pair_length", i32, {}},
                                             {"feature_lists/id", i64, {1}},
                                             {"feature_lists/id_length", i32, {}},
                                             {"text", u8, {3, 2}},
                                             {"text_length", i32, {}}});
  const auto first = test::read_sample(*data, {1});
  CHECK(values_of<float>(first[1]) == std::vector<float>{0, 0.5F, 0, 0, 0, 0});
  CHECK(values_of<std::int32_t>(first[2]) == std::vector<std::int32_t>{1});
  CHECK(test::read_sample(*data, {0})[5] == memory_of<std::uint8_t>({0, 0, 1, 1, 2, 2}));
  const auto ragged = open_tfrecord_ragged({file}, "pair");
  CHECK(ragged->size() == 3);
  CHECK(ragged->length({0}) == 3);
  CHECK(ragged->length({2}) == 0);
}

TEST_CASE("tfrecord: a decoder, a shape, and any number of values may be given",
          "[dataset][host]") {
  const test::temporary_directory folder;
  const auto record = [](std::int64_t i) {
    return framed(example({{"digits", bytes_feature({bytes_in(std::to_string(i))})},
                           {"pair", int64_feature({i, i, i, i})},
                           {"one", int64_feature({i})}}));
  };
  const auto file = folder.write("a", joined({record(7), record(12)}));
  const auto data =
      open_tfrecord({file}, {.features = {{"digits", {.decoder = decode_decimal(i32)}},
                                          {"pair", {.shape = std::vector<std::uint64_t>{2, 2}}},
                                          {"one", {.is_ragged = true}}},
                             .pad = {{"one", {.length = 2}}}});
  CHECK(data->fields() == std::vector<field>{{"digits", i32, {}},
                                             {"pair", i64, {2, 2}},
                                             {"one", i64, {2}},
                                             {"one_length", i32, {}}});
  CHECK(test::read_sample(*data, {1})[0] == memory_of<std::int32_t>({12}));
  const auto misuse = [&](tfrecord_options options) {
    return test::message_of<usage_error>([&] { (void)open_tfrecord({file}, options); });
  };
  CHECK(misuse({.features = {{"one", {}}}}) ==
        "open_tfrecord: tfrecord_options::features names 'one' with no way to read it: say one of "
        "decoder, shape and is_ragged");
  CHECK(misuse({.features = {{"one", {.decoder = decode_npy()}}}}) ==
        "open_tfrecord: tfrecord_options::features names 'one' with a decoder, but its values are "
        "int64, not bytes");
  CHECK(misuse({.features = {{"two", {.is_ragged = true}}}}) ==
        "open_tfrecord: tfrecord_options::features names 'two', which none of the 2 records that "
        "were looked at has; they have digits, pair, one");
  CHECK(test::message_of<usage_error>([] { (void)open_tfrecord({}); }) ==
        "open_tfrecord: there is no file");
}

TEST_CASE("tfrecord: a shuffled epoch, resumed within it, gives each record once",
          "[dataset][host]") {
  const test::temporary_directory folder;
  const auto file = folder.write("a", file_of(0, 100));
  const auto data = open(file, {.fields = {"label"}});
  std::multiset<std::int64_t> expected;
  for (std::int64_t i = 0; i < 100; ++i) expected.insert(i * 1000 - 7);
  CHECK(test::resumed_labels<std::int64_t>(data, "label") == expected);
}
