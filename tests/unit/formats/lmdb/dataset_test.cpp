#include <feedline/dataset/decoder.hpp>
#include <feedline/error.hpp>
#include <feedline/formats/lmdb.hpp>
#include <feedline/formats/open.hpp>

#include "support/checks/catch.hpp"
#include "support/checks/contains.hpp"
#include "support/checks/log_capture.hpp"
#include "support/checks/message_of.hpp"
#include "support/datasets/dataset_contract.hpp"
#include "support/datasets/labels_once.hpp"
#include "support/datasets/test_records.hpp"
#include "support/files/file_bytes.hpp"
#include "support/files/npy_bytes.hpp"
#include "support/files/temporary_directory.hpp"
#include "support/files/test_data.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

using namespace feedline;
using test::byte_vector;
using test::memory_of;

namespace {

constexpr auto u8 = element_type::u8;
constexpr auto i32 = element_type::i32;

std::string file_named(const std::string& name) {
  return test::fixture("lmdb/" + name + ".mdb").string();
}

/// The values that tests/fixtures/make_lmdb.py writes.
byte_vector value_of(std::uint64_t i) {
  return byte_vector(i % 100 == 3 ? 3000 : i % 7, std::byte(i % 251));
}

}  // namespace

TEST_CASE("lmdb: the values of all keys, in their order, also large ones and rewritten ones",
          "[dataset][host]") {
  const std::string file = file_named("values");
  CHECK(detect_format(file) == "lmdb");
  const test::log_capture log;
  const auto data = open(file);
  CHECK(test::contains(log.text(), "keys that describe the set are left out: __len__"));
  test::check_dataset_contract(
      data, 300, {{"value", u8, {3000}}, {"value_length", i32, {}}},
      [](sample_index sample, std::size_t place) {
        byte_vector value = value_of(sample.value);
        if (place == 1) return memory_of<std::int32_t>({static_cast<std::int32_t>(value.size())});
        value.resize(3000);
        return value;
      });
  const auto listed = list_fields(file);
  REQUIRE(listed.size() == 2);
  CHECK(listed[0].is_ragged);
  CHECK(listed[1].name == "key '__len__'");
  CHECK(open_lmdb_ragged({file})->length({103}) == 3000);
}

TEST_CASE("lmdb: keys of several names with the same numbers are fields of one record",
          "[dataset][host]") {
  const std::string file = file_named("pairs");
  const auto data = open(std::vector<std::string>{file, file});
  REQUIRE(data->size() == 10);
  CHECK(data->fields() ==
        std::vector<field>{{"image", u8, {4}}, {"label", u8, {5}}, {"label_length", i32, {}}});
  const auto sample = test::read_sample(*data, {7});
  CHECK(sample[0] == byte_vector(4, std::byte{3}));
  CHECK(sample[2] == memory_of<std::int32_t>({3}));
  const auto chosen = open_lmdb(
      {file},
      {.values = {.fields = {"image"}, .columns = {{"image", {.decoder = decode_raw(i32)}}}}});
  CHECK(chosen->fields() == std::vector<field>{{"image", i32, {}}});
  CHECK(test::contains(
      test::message_of<usage_error>([&] { (void)open(file, {.fields = {"text"}}); }),
      "shard_options::fields names 'text', which is no field; there are image, label"));
  const auto seen = test::resumed_labels<std::int32_t>(
      open_lmdb({file, file}, {.values = {.columns = {{"image", {.decoder = decode_raw(i32)}}}}}),
      "image");
  CHECK(seen.size() == 10);
  for (std::int64_t i = 1; i < 6; ++i) CHECK(seen.count(i * 0x01010101) == 2);
}

TEST_CASE("lmdb: a named database is found, and pickles are refused", "[dataset][host]") {
  const auto data = open(file_named("named"));
  REQUIRE(data->size() == 3);
  CHECK(test::read_sample(*data, {2})[0] == byte_vector(2, std::byte{2}));
  CHECK(open_lmdb({file_named("named")}, {.values = {}, .database = "train"})->size() == 3);
  CHECK(test::contains(test::message_of<dataset_error>([&] {
                         (void)open_lmdb({file_named("named")}, {.values = {}, .database = "test"});
                       }),
                       "has no database 'test'; there are: train"));
  CHECK(test::contains(test::message_of<dataset_error>([&] { (void)open(file_named("pickles")); }),
                       "field 'value', sample 0, byte "));
  CHECK(test::contains(test::message_of<dataset_error>([&] { (void)open(file_named("pickles")); }),
                       "is a pickle, and feedline never unpickles"));
}

TEST_CASE("lmdb, bad input: damaged, cut and foreign pages are errors", "[dataset][host]") {
  const test::temporary_directory folder;
  const byte_vector good = test::bytes_of_file(file_named("values"));
  const auto refusal = [&](byte_vector bytes) {
    const std::string path = folder.write("data.mdb", bytes);
    return test::message_of<dataset_error>([&] {
      const auto data = open(folder.path(), {.format = "lmdb", .pad = {{"value", {.length = 9}}}});
      for (std::uint64_t i = 0; i < data->size(); ++i) (void)test::read_sample(*data, {i});
    });
  };
  const auto with = [&](std::size_t at, unsigned value) {
    byte_vector bytes = good;
    bytes[at] = std::byte(value);
    return refusal(bytes);
  };
  CHECK(test::contains(refusal(good), "field 'value', sample 3, byte "));  // longer than 9
  CHECK(test::contains(refusal({}), "byte 0: is no LMDB file"));
  CHECK(test::contains(with(16, 0), "byte 0: is no LMDB file"));
  CHECK(test::contains(with(20, 2), "byte 20: is of version 2 of LMDB's format"));
  CHECK(test::contains(with(41, 3), "byte 40: has pages of 768 bytes"));
  byte_vector cut = good;
  cut.resize(3 * 4096);
  CHECK(test::contains(refusal(cut), "the tree of keys is damaged: it leads to page "));
  // A page that names another one many times does not claim memory for each.
  byte_vector branch = good;
  const auto number = [&](std::size_t at) { return std::to_integer<std::size_t>(good[at]); };
  const std::size_t meta = number(144) > number(4096 + 144) ? 0 : 4096;
  const std::size_t root = number(meta + 128) * 4096;  // the newest one
  branch[root + 10] = std::byte{1};
  branch[root + 12] = std::byte{0};
  branch[root + 13] = std::byte{0x0f};
  for (std::size_t at = root + 16; at < root + 0x0f00; at += 2) {
    branch[at] = std::byte{0};
    branch[at + 1] = std::byte{0x0f};
  }
  std::fill_n(branch.begin() + static_cast<std::ptrdiff_t>(root) + 0x0f00, 8, std::byte{0});
  CHECK(test::contains(refusal(branch), "it leads to more pages than the 13 of the file"));
  CHECK(test::contains(test::message_of<usage_error>([&] {
                         (void)open_lmdb(
                             {file_named("values")},
                             {.values = {.columns = {{"value", {.is_ragged = true}}},
                                         .record = std::make_shared<test::number_and_words>()}});
                       }),
                       "record decodes whole values, so leave out columns and image"));
  // Each byte of the newest tree may be anything.
  std::size_t refused = 0;
  for (std::size_t at = 0; at < good.size(); at += 61)
    for (const unsigned value : {0U, 1U, 255U})
      refused += static_cast<std::size_t>(with(at, value) != "[nothing was thrown]");
  CHECK(refused > 0);
}
