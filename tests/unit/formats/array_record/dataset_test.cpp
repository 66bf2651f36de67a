#include <feedline/dataset/decoder.hpp>
#include <feedline/error.hpp>
#include <feedline/formats/array_record.hpp>
#include <feedline/formats/open.hpp>

#include "support/checks/catch.hpp"
#include "support/checks/contains.hpp"
#include "support/checks/message_of.hpp"
#include "support/datasets/dataset_contract.hpp"
#include "support/datasets/labels_once.hpp"
#include "support/files/array_record_file.hpp"
#include "support/files/npy_bytes.hpp"
#include "support/files/temporary_directory.hpp"

#include <cstring>
#include <string>
#include <vector>

using namespace feedline;
using test::array_record_file;
using test::byte_vector;
using test::memory_of;

namespace {

constexpr auto u8 = element_type::u8;
constexpr auto i32 = element_type::i32;

// The records that tests/fixtures/make_array_record.py writes.

byte_vector small_record(std::uint64_t i) {
  std::string text;
  for (std::uint64_t k = 0; k < i % 5; ++k) text += std::to_string(i);
  const auto bytes = std::as_bytes(std::span{text});
  return {bytes.begin(), bytes.end()};
}

byte_vector large_record(std::uint64_t i) {
  byte_vector bytes(30000 + 20000 * i);
  for (std::uint64_t k = 0; k < bytes.size(); ++k)
    bytes[k] = std::byte((i + 7 * k + k / 251) % 251);
  return bytes;
}

template <class Record>
void check_values(const std::string& file, std::uint64_t records, std::uint64_t longest,
                  Record record) {
  INFO(file);
  CHECK(detect_format(file) == "array_record");
  test::check_dataset_contract(
      open(file), records, {{"value", u8, {longest}}, {"value_length", i32, {}}},
      [&](sample_index sample, std::size_t place) {
        byte_vector value = record(sample.value);
        if (place == 1) return memory_of<std::int32_t>({static_cast<std::int32_t>(value.size())});
        value.resize(longest);
        return value;
      });
}

}  // namespace

TEST_CASE("array record: examples, one a chunk as by default, are fields", "[dataset][host]") {
  const test::temporary_directory folder;
  const std::string file = array_record_file(folder, "examples");
  CHECK(detect_format(file) == "array_record");
  const auto data = open(std::vector<std::string>{file, file}, {.pad = {{"text", {.length = 6}}}});
  test::check_dataset_contract(
      data, 18,
      {{"id", element_type::i64, {}},
       {"text", u8, {6}},
       {"text_length", i32, {}},
       {"xy", element_type::f32, {2}}},
      [](sample_index sample, std::size_t place) {
        const auto i = static_cast<std::int64_t>(sample.value % 9);
        if (place == 0) return memory_of<std::int64_t>({i});
        if (place == 3)
          return memory_of<float>({static_cast<float>(i) / 2, static_cast<float>(-i)});
        const auto length = static_cast<std::size_t>(i % 4 * 2);
        if (place == 2) return memory_of<std::int32_t>({static_cast<std::int32_t>(length)});
        byte_vector text(6);
        for (std::size_t k = 0; k < length; ++k) text[k] = std::byte(k % 2 == 0 ? 'a' : 'b');
        return text;
      });
  const auto listed = list_fields(file);
  REQUIRE(listed.size() == 3);
  CHECK(listed[0].samples == 9);
  const auto seen = test::resumed_labels<std::int64_t>(
      open_array_record({file, file}, {.examples = {.fields = {"id"}}}), "id");
  CHECK(seen.size() == 18);
  for (std::int64_t i = 0; i < 9; ++i) CHECK(seen.count(i) == 2);
  CHECK(open_array_record_ragged({file}, "text")->length({3}) == 6);
}

TEST_CASE("array record: records of bytes, alone or several a chunk, across blocks of the file",
          "[dataset][host]") {
  const test::temporary_directory folder;
  check_values(array_record_file(folder, "groups"), 11, 4, small_record);
  check_values(array_record_file(folder, "padded"), 11, 4, small_record);
  check_values(array_record_file(folder, "large"), 7, 150000, large_record);
  check_values(array_record_file(folder, "plain"), 7, 150000, large_record);
}

TEST_CASE("array record: chunks of several records are an order's chunks, and are resumed",
          "[dataset][host]") {
  const test::temporary_directory folder;
  const std::string groups = array_record_file(folder, "groups");
  const auto data = open_array_record({groups, array_record_file(folder, "padded")});
  CHECK(data->chunks().samples == 3);  // 22 records in 9 chunks
  const std::string examples = array_record_file(folder, "examples");
  CHECK(open_array_record({examples})->chunks().samples <= 1);
  CHECK(open_array_record_ragged({groups})->length({4}) == 4);
  for (const std::size_t memory : {std::size_t{1}, std::size_t{0}}) {
    const auto read = open_array_record(
        {groups, groups}, {.value = column_options{.decoder = nullptr, .is_ragged = true},
                           .max_host_cache_bytes = memory});
    const auto seen = test::resumed_labels<std::int32_t>(read, "value_length",
                                                         shuffle{.seed = 3, .within = chunks()});
    CHECK(seen == std::multiset<std::int64_t>{0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2,
                                              2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4});
  }
}

TEST_CASE("array record: what cannot be read says what to do", "[dataset][host]") {
  const test::temporary_directory folder;
  const auto refusal = [&](const std::string& name, const array_record_options& options = {}) {
    const std::string file = array_record_file(folder, name);
    const std::string message =
        test::message_of<dataset_error>([&] { (void)open_array_record({file}, options); });
    REQUIRE(message.starts_with(file));
    return message.substr(file.size());
  };
  CHECK(refusal("empty") == ": holds no record");
  CHECK(refusal("brotli") ==
        ": byte 658: the records are compressed by Brotli, which feedline does not undo; write the "
        "records again with ArrayRecordWriter(path, 'zstd')");
  CHECK(test::contains(refusal("snappy"), "compressed by Snappy, which feedline does not undo"));
  CHECK(test::contains(refusal("transposed"),
                       "sample 0, byte 64: the records are transposed, which feedline does not "
                       "undo; write them again with ArrayRecordWriter(path, 'transpose:false')"));
  CHECK(
      test::contains(refusal("groups", {.examples = {.features = {{"x", {.is_ragged = true}}}}}),
                     "sample 0, byte 64: is no tf.train.Example, but tfrecord_options::features"));
  const std::string file = array_record_file(folder, "examples");
  const auto misuse = [&](const array_record_options& options) {
    return test::message_of<usage_error>([&] { (void)open_array_record({file}, options); });
  };
  CHECK(test::contains(misuse({.examples = {.index_folder = "x"}}), "leave it empty"));
  CHECK(test::contains(misuse({.examples = {.fields = {"no"}}}), "open_array_record: "));
  CHECK(test::contains(misuse({.examples = {.features = {{"no", {.is_ragged = true}}}}}),
                       "open_array_record: tfrecord_options::features names 'no'"));
  CHECK(test::contains(
      misuse({.examples = {.features = {{"id", {.is_ragged = true}}}}, .value = column_options{}}),
      "set one of them"));
  CHECK(test::message_of<usage_error>([] { (void)open_array_record({}); }) ==
        "open_array_record: there is no file");
}

TEST_CASE("array record, bad input: each byte of a file is checked or is padding",
          "[dataset][host]") {
  const test::temporary_directory folder;
  const auto all_of = [&](const byte_vector& bytes) {
    const auto data = open(folder.write("x", bytes), {.format = "array_record"});
    std::vector<std::vector<byte_vector>> samples;
    for (std::uint64_t i = 0; i < data->size(); ++i)
      samples.push_back(test::read_sample(*data, {i}));
    return samples;
  };
  for (const char* const name : {"examples", "groups"}) {
    const byte_vector good = test::bytes_of_array_record(name);
    const auto expected = all_of(good);
    std::size_t refused = 0;
    // The signature is the format's mark, and is not read.
    const auto damage = [&](std::size_t begin, std::size_t end) {
      for (std::size_t at = begin; at < end; ++at) {
        byte_vector bytes = good;
        bytes[at] ^= std::byte{0x10};
        try {
          const auto samples = all_of(bytes);
          CHECK(samples == expected);
        } catch (const dataset_error& fault) {
          ++refused;
          CHECK(fault.path() == (folder.path() / "x").string());
        }
      }
    };
    damage(64, 1200);
    damage(65536, 65536 + 64 + 44);
    CHECK(refused > 500);
    for (const std::size_t bytes : {0U, 64U, 1000U, 65536U, 131071U}) {
      const byte_vector cut{good.begin(), good.begin() + static_cast<std::ptrdiff_t>(bytes)};
      CHECK_THROWS_AS(all_of(cut), dataset_error);
    }
    byte_vector longer = good;
    longer.resize(3 * 65536);
    CHECK_THROWS_AS(all_of(longer), dataset_error);
  }
}
