#include <feedline/formats/mds.hpp>
#include <feedline/formats/open.hpp>
#include <feedline/image/decode.hpp>

#include "support/checks/catch.hpp"
#include "support/checks/contains.hpp"
#include "support/checks/log_capture.hpp"
#include "support/datasets/dataset_contract.hpp"
#include "support/datasets/labels_once.hpp"
#include "support/datasets/written_values.hpp"
#include "support/files/standin_files.hpp"
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

using enum element_type;

/// The values that tests/fixtures/make_mds.py writes, padded.
byte_vector written(std::string field, int i) {
  if (field.starts_with("dyn")) field.replace(0, 3, "rows");
  if (const auto shared = test::written_value(field, i)) return *shared;
  if (field == "f") return memory_of<float>({static_cast<float>(i) / 4});
  if (field == "digits") return memory_of<std::int64_t>({-1'000'000'000'000 * i});
  if (field == "real") return memory_of<double>({i / 8.0});
  if (field == "png") return {std::byte{0x89}};  // a file
  if (field == "png_length") return memory_of<std::int32_t>({1});
  if (field == "js")
    return bytes_in("{\"i\": " + std::to_string(i) + '}' + std::string(i < 10 ? 1 : 0, '\0'));
  if (field == "js_length") return memory_of<std::int32_t>({i < 10 ? 8 : 9});
  byte_vector bytes;  // arr, pil
  const unsigned step = field == "pil" ? 3 : 1;
  for (unsigned k = 0; k < (field == "pil" ? 12U : 6U); k += step)
    bytes.push_back(std::byte(k + static_cast<unsigned>(i)));
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

TEST_CASE("mds: a far shard is asked for only until it is decompressed", "[dataset][host]") {
  const test::mounted_standin far;
  const std::string folder = test::mounted_standin::address_of(test::fixture("mds_gz"));
  std::vector<sample_index> all;
  for (std::uint64_t i = 0; i < 22; ++i) all.push_back({i});
  const auto hints_of = [&](const shard_options& options) {
    const auto data = open_mds({folder, folder}, options);  // all records are looked at
    (void)far->take_hints();
    data->prefetch(all);
    return far->take_hints().size();
  };
  CHECK(hints_of({.fields = {"n"}}) == 0);
  CHECK(hints_of({.fields = {"n"}, .max_host_cache_bytes = 1}) == 2);  // two of four are kept
}
