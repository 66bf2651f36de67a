#include <feedline/error.hpp>
#include <feedline/formats/open.hpp>
#include <feedline/formats/parquet.hpp>

#include "support/checks/catch.hpp"
#include "support/checks/contains.hpp"
#include "support/checks/log_capture.hpp"
#include "support/checks/message_of.hpp"
#include "support/datasets/dataset_contract.hpp"
#include "support/files/npy_bytes.hpp"
#include "support/files/parquet_bytes.hpp"
#include "support/files/temporary_directory.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

using namespace feedline;
using namespace test::parquet_files;
using test::byte_vector;
using test::contains;
using test::memory_of;
using test::message_of;

namespace {

using numbers = std::vector<std::optional<std::int64_t>>;

constexpr auto i64 = element_type::i64;
constexpr auto i32 = element_type::i32;
constexpr auto f32 = element_type::f32;
constexpr auto u8 = element_type::u8;

numbers counting(std::int64_t first, std::int64_t count) {
  numbers made;
  for (std::int64_t i = first; i < first + count; ++i) made.emplace_back(i);
  return made;
}

std::vector<std::int32_t> words_of(std::int64_t i) {
  return std::vector<std::int32_t>(static_cast<std::size_t>(i % 4), static_cast<std::int32_t>(i));
}

std::string text_of(std::int64_t i) {
  return std::string(static_cast<std::size_t>(i % 3), static_cast<char>('a' + i % 26));
}

/// "id", "x", "flag", "words", "text", "box": two numbers of fixed size.
byte_vector table_of(std::int64_t first, std::int64_t count, std::int64_t group_rows) {
  std::vector<std::optional<float>> x;
  std::vector<std::optional<bool>> flags;
  std::vector<std::vector<std::int32_t>> words;
  std::vector<std::optional<std::string>> texts;
  arrow::FixedSizeListBuilder boxes{arrow::default_memory_pool(),
                                    std::make_shared<arrow::Int16Builder>(), 2};
  for (std::int64_t i = first; i < first + count; ++i) {
    x.emplace_back(static_cast<float>(i) / 2);
    flags.emplace_back(i % 3 == 0);
    words.push_back(words_of(i));
    texts.emplace_back(text_of(i));
    PARQUET_THROW_NOT_OK(boxes.Append());
    auto& box = static_cast<arrow::Int16Builder&>(*boxes.value_builder());
    PARQUET_THROW_NOT_OK(box.Append(static_cast<std::int16_t>(i)));
    PARQUET_THROW_NOT_OK(box.Append(static_cast<std::int16_t>(-i)));
  }
  return file_of({{"id", array_of<arrow::Int64Builder>(counting(first, count))},
                  {"x", array_of<arrow::FloatBuilder>(x)},
                  {"flag", array_of<arrow::BooleanBuilder>(flags)},
                  {"words", lists_of<arrow::Int32Builder>(words)},
                  {"text", array_of<arrow::StringBuilder>(texts)},
                  {"box", finished(boxes)}},
                 group_rows);
}

byte_vector expected_value(std::int64_t i, std::size_t place) {
  switch (place) {
    case 0:
      return memory_of<std::int64_t>({i});
    case 1:
      return memory_of<float>({static_cast<float>(i) / 2});
    case 2:
      return memory_of<std::uint8_t>({i % 3 == 0});
    case 3: {
      auto words = words_of(i);
      words.resize(3);
      return memory_of(words);
    }
    case 4:
      return memory_of<std::int32_t>({static_cast<std::int32_t>(i % 4)});
    case 5: {
      std::string text = text_of(i);
      text.resize(2);
      return memory_of<char>({text[0], text[1]});
    }
    case 6:
      return memory_of<std::int32_t>({static_cast<std::int32_t>(i % 3)});
    default:
      return memory_of<std::int16_t>({static_cast<std::int16_t>(i), static_cast<std::int16_t>(-i)});
  }
}

const std::vector<field> all_fields{{"id", i64, {}},
                                    {"x", f32, {}},
                                    {"flag", element_type::boolean, {}},
                                    {"words", i32, {3}},
                                    {"words_length", i32, {}},
                                    {"text", u8, {2}},
                                    {"text_length", i32, {}},
                                    {"box", element_type::i16, {2}}};

std::string refusal(const std::string& file, const parquet_options& options = {}) {
  return message_of<error>([&] { (void)open_parquet({file}, options); });
}

}  // namespace

TEST_CASE("Parquet: columns of all files are fields, whatever fits in the cache",
          "[dataset][host]") {
  const test::temporary_directory folder;
  const std::int64_t group_rows = GENERATE(1, 7, 100);
  const std::size_t cache_bytes = GENERATE(std::size_t{0}, std::size_t{1});
  const auto a = folder.write("a", table_of(0, 40, group_rows));
  const auto none = folder.write("b", table_of(40, 0, group_rows));
  const auto c = folder.write("c", table_of(40, 23, group_rows));
  const auto value = [](sample_index sample, std::size_t place) {
    return expected_value(static_cast<std::int64_t>(sample.value), place);
  };
  test::check_dataset_contract(open_parquet({a, none, c}, {.max_host_cache_bytes = cache_bytes}),
                               63, all_fields, value);
  CHECK(open(std::vector<std::string>{a, c}, {.fields = {"box", "id"}})->fields() ==
        std::vector<field>{all_fields[7], all_fields[0]});
}

TEST_CASE("Parquet: what open lists of a file, and what is looked at by its magic",
          "[dataset][host]") {
  const test::temporary_directory folder;
  const std::string file = folder.write("a", table_of(0, 5, 2));
  CHECK(detect_format(file) == "parquet");
  const auto listed = list_fields(file);
  REQUIRE(listed.size() == 6);
  CHECK(listed[0].spec == all_fields[0]);
  CHECK(listed[3].is_ragged);
  CHECK(listed[3].spec == field{"words", i32, {}});
  CHECK(listed[4].is_ragged);
  CHECK(listed[5].samples == 5);
}

TEST_CASE("Parquet: a ragged column by itself, padded, cut and packed lengths", "[dataset][host]") {
  const test::temporary_directory folder;
  const auto file = folder.write("a", table_of(0, 30, 7)).string();
  const auto words = open_parquet_ragged({file}, "words", {.max_host_cache_bytes = 1});
  CHECK(words->element() == field{"words", i32, {}});
  byte_vector out(8);
  for (std::uint64_t i = 0; i < 30; ++i) {
    REQUIRE(words->length({i}) == i % 4);
    if (i % 4 < 3) continue;
    words->read(std::vector<element_run>{{{i}, 1, out}});
    CHECK(out ==
          memory_of<std::int32_t>({static_cast<std::int32_t>(i), static_cast<std::int32_t>(i)}));
  }
  CHECK(message_of<usage_error>([&] { (void)open_parquet_ragged({file}, "id"); }) ==
        "open_parquet_ragged: the values of 'id' are all of one size; open_parquet reads them");
  const auto cut = open(file, {.fields = {"words"},
                               .pad = {{"words", {.length = 2, .longer = pad_longer::truncate}}}});
  CHECK(test::read_sample(*cut, {7})[0] == memory_of<std::int32_t>({7, 7}));
  CHECK(test::read_sample(*cut, {7})[1] == memory_of<std::int32_t>({2}));
  const auto strict = open(file, {.fields = {"words"}, .pad = {{"words", {.length = 2}}}});
  CHECK(message_of<dataset_error>([&] { (void)test::read_sample(*strict, {7}); }) ==
        file +
            ": field 'words', sample 7: row 0 of row group 1: has 3 elements, more than the 2 "
            "of pad_options::length: raise it, or ask for pad_longer::truncate");
  CHECK(contains(refusal(file, {.pad = {{"id", {}}}}), "names 'id', whose values are all of one"));
  CHECK(contains(refusal(file, {.pad = {{"no", {}}}}), "names 'no', which is not among"));
}

TEST_CASE("Parquet: nulls are told at opening and refused when read, or filled",
          "[dataset][host]") {
  const test::temporary_directory folder;
  const bool with_statistics = GENERATE(true, false);
  const std::string file = folder.write(
      "a",
      file_of({{"x", array_of<arrow::Int64Builder>(numbers{1, 2, {}, 4})}}, 2, with_statistics));
  const test::log_capture log;
  const auto data = open(file);
  CHECK(contains(log.text(), "column 'x' has nulls (1)") == with_statistics);
  CHECK(test::read_sample(*data, {3})[0] == memory_of<std::int64_t>({4}));
  CHECK(message_of<dataset_error>([&] { (void)test::read_sample(*data, {2}); }) ==
        file +
            ": field 'x', sample 2: row 0 of row group 1: is null; give a value for the nulls "
            "of 'x' (parquet_options::fill_nulls), or replace such samples (sample_errors)");
  const auto filled = open(file, {.fill_nulls = {{"x", std::int64_t{-1}}}});
  CHECK(test::read_sample(*filled, {2})[0] == memory_of<std::int64_t>({-1}));
  CHECK(contains(refusal(file, {.fill_nulls = {{"x", 0.5}}}), "0.5 is not a value of field x"));
  const auto other = folder.write(
      "b.npy", test::npy_bytes(test::npy_dictionary("<u2", "(3, 2)"), test::counting_bytes(12)));
  CHECK(contains(message_of<usage_error>([&] {
                   (void)open(other, {.fill_nulls = {{"x", std::int64_t{0}}}});
                 }),
                 "open_options::fill_nulls is for columns of Parquet files, but"));
}

TEST_CASE("Parquet: files whose columns differ are refused by file and column", "[dataset][host]") {
  const test::temporary_directory folder;
  const auto write = [&](const char* name, const std::vector<column>& columns) {
    return folder.write(name, file_of(columns, 10)).string();
  };
  const column x{"x", array_of<arrow::Int64Builder>(counting(0, 3))};
  const column y{"y", array_of<arrow::Int64Builder>(counting(5, 3))};
  const column other{"x", lists_of<arrow::Int64Builder>(std::vector<std::vector<std::int64_t>>(3))};
  const std::string a = write("a", {x});
  const auto message = [&](const std::string& b, const std::vector<std::string>& fields) {
    return message_of<error>([&] { (void)open_parquet({a, b}, {.fields = fields}); });
  };
  CHECK(message(write("b", {y}), {}) == folder.path().string() +
                                            "/b: field 'x': the file has no "
                                            "such column, which " +
                                            a + " has as x: int64[]");
  CHECK(message(write("b", {other}), {}) == folder.path().string() +
                                                "/b: field 'x': is a run of x: "
                                                "int64[] here, but x: int64[] in " +
                                                a);
  const std::string b = write("b", {y, x});
  CHECK(message(b, {}) == b + ": field 'y': the file has this column, and " + a +
                              " does not; name the columns to open");
  const auto both = open_parquet({a, b}, {.fields = {"x"}});  // another number there
  CHECK(test::read_sample(*both, {5})[0] == memory_of<std::int64_t>({2}));
  CHECK(contains(message(b, {"z"}), "'z'"));
}

#ifdef FEEDLINE_TEST_JSON
TEST_CASE("Parquet: labels of the Hub have the names of their classes", "[dataset][host]") {
  const test::temporary_directory folder;
  const auto file = [&](const std::string& name, const std::string& hub) {
    return folder
        .write(
            name,
            file_of(
                {{"label", array_of<arrow::Int64Builder>(counting(0, 2))},
                 {"tags",
                  lists_of<arrow::Int32Builder>(std::vector<std::vector<std::int32_t>>{{0}, {}})},
                 {"x", array_of<arrow::FloatBuilder>(std::vector<std::optional<float>>{0.F, 1.F})}},
                2, true, hub))
        .string();
  };
  const auto described = [](const std::string& names) {
    return R"({"info": {"features": {"label": {"names": )" + names + R"(, "_type": "ClassLabel"},
        "tags": {"feature": {"names": ["N", "V"], "_type": "ClassLabel"}, "_type": "List"},
        "x": {"names": ["never"], "_type": "ClassLabel"}}}})";
  };
  const std::string named = file("a", described(R"(["cat", "dog"])"));
  const auto data = open(named);
  const std::vector<std::string> animals{"cat", "dog"};
  CHECK(data->fields()[0].classes.get() == animals);
  CHECK(data->fields()[1].classes.get() == std::vector<std::string>{"N", "V"});
  CHECK(data->fields()[3].classes.empty());  // x is no integer
  CHECK(list_fields(named)[0].classes == animals);
  // A file without names follows; one with other names does not.
  const std::string plain = file("b", "");
  CHECK(open(std::vector<std::string>{named, plain})->size() == 4);
  CHECK(open(std::vector<std::string>{plain, named})->size() == 4);
  const std::string other = file("c", described(R"(["dog", "cat"])"));
  CHECK(contains(message_of<dataset_error>([&] {
                   (void)open(std::vector<std::string>{named, other});
                 }),
                 "is label: int64[] of 2 classes (dog, cat; "));
  CHECK(open(std::vector<std::string>{plain, named})->fields()[0].classes.get() == animals);
  CHECK(contains(message_of<dataset_error>([&] {
                   (void)open(std::vector<std::string>{plain, named, other});
                 }),
                 "is label: int64[] of 2 classes (dog, cat; "));
  const test::log_capture log;
  CHECK(open(file("d", "no JSON"))->fields()[0].classes.empty());
  CHECK(contains(log.text(), "open_parquet: names of classes are not known: "));
}
#endif
