#include <feedline/error.hpp>
#include <feedline/formats/litdata.hpp>
#include <feedline/formats/open.hpp>
#include <feedline/ragged/pack.hpp>

#include "support/checks/catch.hpp"
#include "support/checks/contains.hpp"
#include "support/checks/log_capture.hpp"
#include "support/checks/message_of.hpp"
#include "support/datasets/dataset_contract.hpp"
#include "support/datasets/labels_once.hpp"
#include "support/datasets/written_values.hpp"
#include "support/files/file_bytes.hpp"
#include "support/files/temporary_directory.hpp"
#include "support/files/test_data.hpp"

#include <filesystem>
#include <string>
#include <vector>

using namespace feedline;
using test::byte_vector;
using test::bytes_in;
using test::memory_of;

namespace {

using enum element_type;

/// The values that tests/fixtures/make_litdata.py writes, padded.
byte_vector written(const std::string& field, int i) {
  if (const auto shared = test::written_value(field, i)) return *shared;
  if (field == "f") return memory_of<double>({i / 4.0});
  if (field == "even") return {std::byte{i % 2 == 0}};
  if (field == "square") return memory_of(std::vector<float>(4, static_cast<float>(i) / 2));
  if (field == "box.of.0") return memory_of<std::int64_t>({i});
  if (field == "box.of.1") return memory_of<std::int64_t>({-i});
  const auto first = static_cast<std::int16_t>(i);
  if (field == "flat")
    return memory_of<std::int16_t>(
        {first, static_cast<std::int16_t>(i + 1), static_cast<std::int16_t>(i + 2)});
  byte_vector pixels;  // box.pil
  for (unsigned k = 0; k < 12; ++k) pixels.push_back(std::byte(k + static_cast<unsigned>(i)));
  return pixels;
}

/// Sets of tests/fixtures: plain, and compressed if this build has zstd.
std::vector<std::string> sets() {
#ifdef FEEDLINE_TEST_ZSTD
  return {"litdata", "litdata_batch", "litdata_chunk"};
#else
  return {"litdata"};
#endif
}

/// The message for a copy of a set in which a file is changed.
std::string refusal(const std::string& set, const std::string& file, const byte_vector& bytes) {
  const test::temporary_directory folder;
  std::filesystem::copy(test::fixture(set), folder.path(),
                        std::filesystem::copy_options::recursive);
  (void)folder.write(file, bytes);
  const std::string told = test::message_of<dataset_error>([&] {
    const auto data = open_litdata({folder.path()}, {.fields = {"n"}});
    for (std::uint64_t i = 0; i < data->size(); ++i) (void)test::read_sample(*data, {i});
  });
  return told == "[nothing was thrown]" ? "" : told.substr(folder.path().string().size());
}

std::string edited(const std::string& set, const std::string& from, const std::string& to) {
  const byte_vector bytes = test::bytes_of_file(test::fixture(set) / "index.json");
  std::string text{reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  text.replace(text.find(from), from.size(), to);
  return refusal(set, "index.json", bytes_in(text));
}

}  // namespace

TEST_CASE("litdata: all leaves as LitData's writer stored them, also compressed",
          "[dataset][host]") {
  const std::string folder = test::fixture(GENERATE(from_range(sets()))).string();
  CHECK(detect_format(folder) == "litdata");
  CHECK(detect_format(folder + "/index.json") == "litdata");
  const test::log_capture log;
  const auto data = open(folder);
  CHECK(test::contains(log.text(), "'odd.list' is of the serializer 'json'"));
  const std::vector<field> fields{{"n", i64, {}},
                                  {"f", f64, {}},
                                  {"even", boolean, {}},
                                  {"text", u8, {4}},
                                  {"text_length", i32, {}},
                                  {"tokens", i32, {3}},
                                  {"tokens_length", i32, {}},
                                  {"square", f32, {2, 2}},
                                  {"flat", i16, {3}},
                                  {"rows", f64, {2, 2}},
                                  {"rows_length", i32, {}},
                                  {"raw", u8, {2}},
                                  {"box.pil", u8, {2, 2, 3}},
                                  {"box.of.0", i64, {}},
                                  {"box.of.1", i64, {}}};
  test::check_dataset_contract(data, 11, fields, [&](sample_index sample, std::size_t place) {
    return written(fields[place].name, static_cast<int>(sample.value));
  });
  CHECK(list_fields(folder).size() == 13);
  const auto seen = test::resumed_labels<std::int64_t>(data, "n");
  CHECK(seen.size() == 12);  // both ranks have six
  for (std::int64_t n = -2; n < 9; ++n) CHECK(seen.contains(n));
}

TEST_CASE("litdata: tokens for a TokensLoader are documents of any length", "[dataset][host]") {
  const auto documents = open_litdata_ragged({test::fixture("litdata_tokens")});
  REQUIRE(documents->size() == 7);
  CHECK(documents->element() == field{"value", i64, {}});
  CHECK(documents->length({3}) == 4);
  std::vector<std::byte> out(4 * 8);
  const element_run run{{3}, 0, out};
  documents->read({&run, 1});
  CHECK(out == memory_of<std::int64_t>({30, 31, 32, 33}));
}

TEST_CASE("litdata, bad input: what cannot be read is refused by name", "[dataset][host]") {
  CHECK(test::contains(
      test::message_of<dataset_error>([] { (void)open(test::fixture("litdata_sample").string()); }),
      "records are compressed one by one (compression_level 'sample')"));
  CHECK(test::contains(edited("litdata", "\"encryption\": null", "\"encryption\": {}"),
                       "/index.json: the index, \"config\" says that the chunks are encrypted"));
  CHECK(test::contains(edited("litdata", "PyTreeLoader", "ParquetLoader"),
                       "says that records are for 'ParquetLoader'"));
  CHECK(test::contains(edited("litdata", "\"int\", ", ""), "\"data_spec\" of 13 values, but a"));
  CHECK(test::contains(edited("litdata_chunk", "\"zstd\"", "\"lz5\""), "compressed by 'lz5'"));
  CHECK(test::contains(edited("litdata", "chunk-0-0.bin", "../chunk.bin"), "not below its folder"));
  CHECK(test::contains(edited("litdata", "\"chunk_size\": 4", "\"chunk_size\": 5"),
                       "/chunk-0-0.bin"));
}

TEST_CASE("litdata, bad input: damaged chunks end in an error, whatever byte is changed",
          "[dataset][host]") {
  const std::string set = GENERATE(from_range(sets()));
  const std::string name = set == "litdata_chunk" ? "chunk-0-0.zstd.bin" : "chunk-0-0.bin";
  const byte_vector good = test::bytes_of_file(test::fixture(set) / name);
  REQUIRE(refusal(set, name, good).empty());
  byte_vector cut = good;
  cut.pop_back();
  CHECK(test::contains(refusal(set, name, cut), name));
  std::size_t refused = 0;
  for (std::size_t at = 0; at < std::min<std::size_t>(good.size(), 160); at += 3) {
    byte_vector bytes = good;
    bytes[at] ^= std::byte{255};
    refused += static_cast<std::size_t>(!refusal(set, name, bytes).empty());
  }
  CHECK(refused > 10);
}
