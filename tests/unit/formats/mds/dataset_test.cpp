#include <feedline/formats/mds.hpp>
#include <feedline/formats/open.hpp>
#include <feedline/image/decode.hpp>

#include "support/checks/catch.hpp"
#include "support/checks/contains.hpp"
#include "support/checks/log_capture.hpp"
#include "support/datasets/dataset_contract.hpp"
#include "support/datasets/labels_once.hpp"
#include "support/files/mds_bytes.hpp"
#include "support/files/temporary_directory.hpp"
#include "support/files/test_data.hpp"

#include <algorithm>
#include <string>
#include <vector>

using namespace feedline;
using test::byte_vector;
using test::bytes_in;
using test::memory_of;

namespace {

constexpr auto i64 = element_type::i64;
constexpr auto i32 = element_type::i32;
constexpr auto f32 = element_type::f32;
constexpr auto f64 = element_type::f64;
constexpr auto u8 = element_type::u8;

/// The values that tests/fixtures/make_mds.py writes, padded.
std::vector<std::byte> written(const std::string& field, int i) {
  const auto at = static_cast<unsigned>(i);
  const auto byte = [](unsigned value) { return std::byte(value); };
  if (field == "n") return memory_of<std::int64_t>({i - 2});
  if (field == "f") return memory_of<float>({static_cast<float>(i) / 4});
  if (field == "digits") return memory_of<std::int64_t>({-1'000'000'000'000 * i});
  if (field == "real") return memory_of<double>({i / 8.0});
  if (field == "raw") return {byte(at), byte(255 - at)};
  if (field == "tokens") {
    std::vector<std::int32_t> tokens(3);
    for (int k = 0; k < i % 3 + 1; ++k) tokens[static_cast<std::size_t>(k)] = k - i;
    return memory_of(tokens);
  }
  if (field == "dyn") {
    std::vector<double> rows(4);
    for (std::size_t k = 0; k < 2 * (at % 2 + 1); ++k) rows[k] = i;
    return memory_of(rows);
  }
  std::vector<std::byte> bytes;
  if (field == "arr")
    for (unsigned k = 0; k < 6; ++k) bytes.push_back(byte(k + at));
  if (field == "png") return {std::byte{0x89}};  // a file
  if (field == "png_length") return memory_of<std::int32_t>({1});
  if (field == "pil")
    for (unsigned k = 0; k < 12; k += 3) bytes.push_back(byte(k + at));
  std::string text;
  for (unsigned k = 0; k < at % 3; ++k) text += "ab";
  if (field == "text") bytes = bytes_in(text + std::string(4 - text.size(), '\0'));
  if (field == "js")
    bytes = bytes_in("{\"i\": " + std::to_string(i) + '}' + std::string(i < 10 ? 1 : 0, '\0'));
  if (field == "tokens_length") return memory_of<std::int32_t>({i % 3 + 1});
  if (field == "dyn_length") return memory_of<std::int32_t>({i % 2 + 1});
  if (field == "text_length") return memory_of<std::int32_t>({2 * (i % 3)});
  if (field == "js_length") return memory_of<std::int32_t>({i < 10 ? 8 : 9});
  return bytes;
}

/// Sets of tests/fixtures: plain, and compressed by what this build has.
std::vector<std::string> sets() {
#ifdef FEEDLINE_TEST_ZSTD
  return {"mds", "mds_gz", "mds_zstd"};
#else
  return {"mds", "mds_gz"};
#endif
}

}  // namespace

TEST_CASE("mds: all encodings as MosaicML's writer stored them, also compressed",
          "[dataset][host]") {
  const std::string folder = test::fixture(GENERATE(from_range(sets()))).string();
  CHECK(detect_format(folder) == "mds");
  CHECK(detect_format(folder + "/index.json") == "mds");
  const test::log_capture log;
  const auto data =
      open_mds({folder}, {.columns = {{"png", {.is_ragged = true}}},
                          .pad = {{"png", {.length = 1, .longer = pad_longer::truncate}}}});
  CHECK(test::contains(log.text(), "'obj' holds pickles, and feedline never unpickles"));
  const std::vector<field> fields{{"arr", u8, {2, 3}},
                                  {"digits", i64, {}},
                                  {"dyn", f64, {2, 2}},
                                  {"dyn_length", i32, {}},
                                  {"f", f32, {}},
                                  {"js", u8, {9}},
                                  {"js_length", i32, {}},
                                  {"n", i64, {}},
                                  {"pil", u8, {2, 2}},
                                  {"png", u8, {1}},
                                  {"png_length", i32, {}},
                                  {"raw", u8, {2}},
                                  {"real", f64, {}},
                                  {"text", u8, {4}},
                                  {"text_length", i32, {}},
                                  {"tokens", i32, {3}},
                                  {"tokens_length", i32, {}}};
  test::check_dataset_contract(data, 11, fields, [&](sample_index sample, std::size_t place) {
    return written(fields[place].name, static_cast<int>(sample.value));
  });
  const auto listed = list_fields(folder, {.image = {.height = 2, .width = 2}});
  REQUIRE(listed.size() == 13);
  CHECK(listed[11].is_ragged);  // text
  CHECK(std::ranges::any_of(listed, [](const listed_field& each) {
    return each.name == "obj" && test::contains(each.left_out, "pickles");
  }));
}

TEST_CASE("mds: columns are read as their options say", "[dataset][host]") {
  const std::string folder = test::fixture("mds").string();
  const auto words = open_mds(
      {folder}, {.fields = {"raw", "png"}, .columns = {{"raw", {.type = element_type::u16}}}});
  CHECK(words->fields().front() == field{"raw", element_type::u16, {1}});
  CHECK(words->fields().back().shape.size() == 1);  // no decoder of images: bytes
  const auto shaped =
      open_mds({folder}, {.fields = {"raw"}, .columns = {{"raw", {.shape = {{2, 1}}}}}});
  CHECK(shaped->fields().front() == field{"raw", u8, {2, 1}});
  const auto ragged = open_mds_ragged({folder}, "tokens");
  CHECK(ragged->length({4}) == 2);
  CHECK(open_mds_ragged({folder}, "dyn")->element().shape == std::vector<std::uint64_t>{2});
}

TEST_CASE("mds: several sets are one sequence, shuffled, sharded, resumed, with any readers",
          "[dataset][host]") {
  const std::string kind = GENERATE("mds", "mds_gz");
  const std::string folder = test::fixture(kind).string();
  const auto data = open(std::vector<std::string>{folder, folder}, {.fields = {"n", "tokens"}});
  REQUIRE(data->size() == 22);
  CHECK((data->chunks().samples > 1) == (kind == "mds_gz"));
  const auto seen = test::resumed_labels<std::int64_t>(data, "n");
  CHECK(seen.size() == 22);
  for (std::int64_t n = -2; n < 9; ++n) CHECK(seen.count(n) == 2);
}
