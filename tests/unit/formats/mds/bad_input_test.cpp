#include <feedline/device/host_device.hpp>
#include <feedline/error.hpp>
#include <feedline/formats/mds.hpp>
#include <feedline/formats/open.hpp>
#include <feedline/loader/loader.hpp>
#include <feedline/sampler/sequential.hpp>

#include "support/checks/catch.hpp"
#include "support/checks/contains.hpp"
#include "support/checks/message_of.hpp"
#include "support/datasets/dataset_contract.hpp"
#include "support/datasets/test_records.hpp"
#include "support/files/file_bytes.hpp"
#include "support/files/mds_bytes.hpp"
#include "support/files/temporary_directory.hpp"
#include "support/files/test_data.hpp"

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

using namespace feedline;
using test::byte_vector;
using test::bytes_in;
using test::joined;
using test::memory_of;

namespace {

const std::vector<test::mds_column_text> columns{{"n", "int", "8"}, {"w", "ndarray:int32", "null"}};

/// An array of int32 with its head: one dimension, an extent of one byte.
byte_vector words_of(const std::vector<std::int32_t>& words) {
  return joined({byte_vector{std::byte{1 << 2}, std::byte(words.size())}, memory_of(words)});
}

byte_vector record_of(std::int64_t n, const byte_vector& words) {
  return test::sized_record({memory_of<std::int64_t>({n}), words}, {false, true});
}

byte_vector good_shard() {
  return test::offset_shard({record_of(1, words_of({5})), record_of(2, words_of({6, 7}))}, 10);
}

/// The message for a set of one shard, after the folder's path.
std::string refusal(const byte_vector& shard, const std::string& entry = {},
                    const std::string& index = {}) {
  const test::temporary_directory folder;
  (void)folder.write("a.mds", shard);
  const std::string text =
      entry.empty() ? test::mds_shard_text(columns, "a.mds", shard.size(), 2) : entry;
  (void)folder.write("index.json", bytes_in(index.empty() ? test::mds_index_text({text}) : index));
  const std::string told = test::message_of<dataset_error>([&] {
    const auto data = open_mds(
        {folder.path().string()},
        {.columns = {{"w", {.is_ragged = true}}}, .pad = {{"w", {.length = 2}}}, .looked_at = 1});
    (void)test::read_sample(*data, {data->size() - 1});
  });
  const std::size_t path = folder.path().string().size();
  if (told == "[nothing was thrown]") return {};
  return told.size() < path ? told : told.substr(path);
}

std::string edited(std::string text, const std::string& from, const std::string& to) {
  return text.replace(text.find(from), from.size(), to);
}

}  // namespace

TEST_CASE("mds, bad input: an index that is damaged is refused", "[dataset][host]") {
  const byte_vector shard = good_shard();
  const std::string entry = test::mds_shard_text(columns, "a.mds", shard.size(), 2);
  REQUIRE(refusal(shard).empty());
  const auto with = [&](const std::string& from, const std::string& to) {
    return refusal(shard, edited(entry, from, to));
  };
  CHECK(test::contains(refusal(shard, {}, "{\"shards\": ["), "/index.json: the index is no JSON"));
  CHECK(test::contains(refusal(shard, {}, std::string(100, '[')),
                       "the index is nested more than 64 levels deep"));
  CHECK(refusal(shard, {}, "{\"shards\": [], \"version\": 2}") == "/index.json: holds no record");
  CHECK(refusal(shard, {}, "{\"shards\": [], \"version\": 3}") ==
        "/index.json: the index is of version 3 of MDS, and feedline reads 2; write the index "
        "again");
  CHECK(with("\"samples\": 2", "\"samples\": -2") ==
        "/index.json: shard 0 has \"samples\" that is no whole number, 0 or more; write the index "
        "again");
  CHECK(with("\"format\": \"mds\"", "\"format\": \"jsonl\"").find("is of the format 'jsonl'") !=
        std::string::npos);
  CHECK(test::contains(with("\"a.mds\"", "\"../a.mds\""), "which is not below its folder"));
  CHECK(test::contains(with("\"a.mds\"", "\"/etc/passwd\""), "which is not below its folder"));
  CHECK(test::contains(with("[8, null]", "[4, null]"),
                       "gives column 'n' 4 bytes, but values of 'int' have 8"));
  CHECK(test::contains(with("[8, null]", "[8]"), "2 column_encodings and 1 column_sizes"));
  CHECK(test::contains(with("\"n\", \"w\"", "\"n\", \"n\""), "two columns named 'n'"));
}

TEST_CASE("mds, bad input: a shard that differs from its index is refused, with the byte",
          "[dataset][host]") {
  const byte_vector shard = good_shard();
  auto cut = shard;
  cut.pop_back();
  CHECK(refusal(cut, test::mds_shard_text(columns, "a.mds", shard.size(), 2)) ==
        "/a.mds: has " + std::to_string(cut.size()) + " bytes, but the index says " +
            std::to_string(shard.size()) + "; get both again");
  CHECK(test::contains(refusal(shard, test::mds_shard_text(columns, "a.mds", shard.size(), 3)),
                       "/a.mds: byte 0: the shard says that it has 2 records, but the index says "
                       "3"));
  CHECK(test::contains(
      refusal(shard, test::mds_shard_text(columns, "a.mds", shard.size(), 1'000'000'000'000)),
      "cannot hold the offsets of 1000000000000 records"));
  auto lying = shard;
  lying[8] = std::byte{255};
  CHECK(test::contains(refusal(lying), "/a.mds: byte 8: the offset of record 1 is 255, "));
  auto beyond = shard;
  beyond[15] = std::byte{1};
  CHECK(test::contains(refusal(beyond), "/a.mds: byte 12: the offset of record 2 is 16777"));
}

TEST_CASE("mds, bad input: a damaged record is an error with its sample and field, or replaced",
          "[dataset][host]") {
  const byte_vector first = record_of(1, words_of({5}));
  const auto of = [&](const byte_vector& second) {
    return refusal(test::offset_shard({first, second}));
  };
  const std::string begin = "/a.mds: field 'w', sample 1, byte 34: ";
  CHECK(of(byte_vector(3)) ==
        "/a.mds: sample 1, byte 34: the record is cut short: 3 bytes, but the sizes of its values "
        "take 4");
  CHECK(of(joined({memory_of<std::uint32_t>({9}), byte_vector(16)})) ==
        begin +
            "the record is damaged: a value of 9 bytes begins 8 bytes before its end; get the file "
            "again");
  CHECK(test::contains(of(joined({record_of(2, {}), byte_vector(1)})),
                       "1 bytes are left after its last value"));
  CHECK(of(record_of(2, byte_vector{})) == begin + "the head of the array is cut short");
  CHECK(test::contains(of(record_of(2, byte_vector(1, std::byte{255}))),
                       begin + "the array has 63 dimensions, and 32 are the most"));
  CHECK(test::contains(of(record_of(2, byte_vector{std::byte{4}, std::byte{9}})),
                       begin + "the array is damaged: its shape has 9 elements, and 0 bytes"));
  CHECK(test::contains(
      of(record_of(
          2, joined({byte_vector{std::byte{8}, std::byte{1}, std::byte{1}}, byte_vector(4)}))),
      begin + "has another shape than w: int32"));
  // The first record is looked at when the set is opened.
  const byte_vector claims =
      joined({byte_vector{std::byte{1 << 2 | 2}}, memory_of<std::uint32_t>({1U << 30})});
  CHECK(test::contains(refusal(test::offset_shard({record_of(1, claims), first})),
                       "sample 0, byte 16: the array is damaged: its shape has 1073741824"));
  const test::temporary_directory folder;
  const byte_vector shard = test::offset_shard({first, record_of(2, byte_vector{}), first});
  (void)folder.write("a.mds", shard);
  (void)folder.write(
      "index.json",
      bytes_in(test::mds_index_text({test::mds_shard_text(columns, "a.mds", shard.size(), 3)})));
  const auto data = open_mds(
      {folder.path().string()},
      {.columns = {{"w", {.is_ragged = true}}}, .pad = {{"w", {.length = 2}}}, .looked_at = 1});
  loader replaced{
      data,
      sequential{},
      make_host_device(),
      {.batch_size = 3, .errors = {.action = error_action::skip, .retries = 0, .max_share = 1}}};
  auto batches = replaced.epoch(0);
  const auto batch = batches.next();
  REQUIRE(batch);
  CHECK(batch->size() == 2);
}

TEST_CASE("mds, bad input: arrays without elements are left out, digits are shown as text",
          "[dataset][host]") {
  const test::temporary_directory folder;
  const auto opened = [&](const char* encoding, const std::vector<byte_vector>& values,
                          const shard_options& options = {}) {
    std::vector<byte_vector> records;
    for (const byte_vector& each : values) records.push_back(test::sized_record({each}, {true}));
    const byte_vector shard = test::offset_shard(records);
    (void)folder.write("a.mds", shard);
    (void)folder.write("index.json",
                       bytes_in(test::mds_index_text({test::mds_shard_text(
                           {{"x", encoding, "null"}}, "a.mds", shard.size(), values.size())})));
    return open_mds({folder.path().string()}, options);
  };
  const byte_vector none{std::byte{2 << 2}, std::byte{1}, std::byte{0}};  // shape [1, 0]
  CHECK(test::contains(
      test::message_of<dataset_error>([&] {
        (void)opened("ndarray:int32", {none, none});
      }),
      "no column can be a field; 'x' has arrays of the shape [1, 0], which have no elements"));
  const auto digits = opened("str_int", {bytes_in("7"), bytes_in("7\xff")});
  CHECK(test::contains(
      test::message_of<dataset_error>([&] { (void)test::read_sample(*digits, {1}); }),
      "'7\\xff' is no number that int64 can hold"));
  CHECK(test::message_of<usage_error>([&] {
          (void)opened("str", {bytes_in("a")},
                       {.record = std::make_shared<test::number_and_words>()});
        }) ==
        "open_mds: shard_options::record decodes records that a format does not describe (LMDB); "
        "decode a column by shard_options::columns");
}

#ifdef FEEDLINE_TEST_ZSTD
TEST_CASE("mds, bad input: shards of other codecs are refused by name", "[dataset][host]") {
  const test::temporary_directory folder;
  std::filesystem::copy(test::fixture("mds_zstd"), folder.path(),
                        std::filesystem::copy_options::recursive);
  const auto rewrite = [&](const std::string& from, const std::string& to) {
    const auto bytes = test::bytes_of_file(test::fixture("mds_zstd") / "index.json");
    std::string text{reinterpret_cast<const char*>(bytes.data()), bytes.size()};
    for (std::size_t at = text.find(from); at != text.npos; at = text.find(from, at + to.size()))
      text.replace(at, from.size(), to);
    (void)folder.write("index.json", bytes_in(text));
    return test::message_of<dataset_error>([&] {
      const auto data = open_mds({folder.path().string()}, {.fields = {"n"}});
      (void)test::read_sample(*data, {0});
    });
  };
  CHECK(test::contains(rewrite("\"zstd\"", "\"br:11\""),
                       "index.json: the shards are compressed by 'br:11', which feedline does not "
                       "undo (it knows zstd, gz and bz2); decompress them"));
  CHECK(test::contains(rewrite("\"zstd\"", "\"gz\""), "the shard does not decompress: "));
  CHECK(test::contains(rewrite("\"bytes\": 2620", "\"bytes\": 2600"),
                       "shard.00000.mds.zstd: sample 0, byte 0: the shard does not decompress"));
  CHECK(test::contains(rewrite("\"bytes\": 2620", "\"bytes\": 2700"),
                       "the shard decompresses to 2620 bytes, but the index says 2700"));
  CHECK(test::contains(rewrite("\"bytes\": 2620", "\"bytes\": 9"),
                       "has 9 bytes once it is decompressed, which"));
}
#endif
