#include <feedline/error.hpp>
#include <feedline/formats/open.hpp>
#include <feedline/formats/tfrecord.hpp>

#include "support/checks/catch.hpp"
#include "support/checks/contains.hpp"
#include "support/checks/message_of.hpp"
#include "support/datasets/dataset_contract.hpp"
#include "support/files/idx_bytes.hpp"
#include "support/files/temporary_directory.hpp"
#include "support/files/tfrecord_bytes.hpp"

#include <string>
#include <vector>

using namespace feedline;
using test::byte_vector;
using test::bytes_in;
using test::joined;
using namespace test::tfrecord;

namespace {

/// "p", a float, and "w", any number of int64.
byte_vector good() {
  return framed(example({{"p", float_feature({1})}, {"w", int64_feature({5})}}));
}

/// The message for the last record of a file, after its path.
std::string refusal(const byte_vector& bytes) {
  const test::temporary_directory folder;
  const std::string file = folder.write("x", bytes);
  const std::string told = test::message_of<dataset_error>([&] {
    // The first record alone is looked at.
    const auto data = open_tfrecord(
        {file},
        {.features = {{"w", {.is_ragged = true}}}, .pad = {{"w", {.length = 2}}}, .looked_at = 1});
    (void)test::read_sample(*data, {data->size() - 1});
  });
  return told.size() < file.size() ? told : told.substr(file.size());
}

constexpr std::string_view way_out =
    "; the records that were looked at differ: say in tfrecord_options::features what all have";

}  // namespace

TEST_CASE("tfrecord, bad input: a file that is cut or damaged is refused with the byte",
          "[dataset][host]") {
  auto cut = good();
  cut.pop_back();
  auto huge = test::memory_of<std::uint64_t>({~std::uint64_t{0} - 11});
  huge = joined({huge, masked_crc(huge), byte_vector(100)});
  CHECK(refusal({}) == ": holds no record");
  CHECK(test::contains(refusal(cut), ": byte 0: the file is cut short: a record of "));
  CHECK(test::contains(refusal(huge), "a record of 18446744073709551604 bytes begins 112 bytes"));
  const std::string after = ": byte " + std::to_string(good().size()) + ": ";
  CHECK(refusal(joined({good(), byte_vector(15)})) ==
        after +
            "the file is cut short: 15 bytes are left, and a record takes 16 at least; get the "
            "file again");
  CHECK(refusal(joined({good(), byte_vector(16, std::byte{1})})) ==
        after +
            "the checksum of a record's length is wrong: the file is damaged from here on; get it "
            "again");
  auto flipped = good();
  flipped[20] ^= std::byte{1};
  CHECK(refusal(joined({good(), flipped})) ==
        ": sample 1, byte " + std::to_string(good().size() + 12) +
            ": the checksum of the record is wrong: the file is damaged; get it again, or replace "
            "such samples (sample_errors)");
}

TEST_CASE("tfrecord, bad input: compressed files are named, with the way out", "[dataset][host]") {
  const test::temporary_directory folder;
  const auto gzip = folder.write("a.gz", test::gzip_bytes(good()));
  CHECK(detect_format(gzip) == "tfrecord");
  CHECK(test::message_of<dataset_error>([&] { (void)open(gzip); }) ==
        gzip.string() +
            ": byte 0: is compressed by gzip, so that its records cannot be read in any order; "
            "decompress it (gunzip), or write it again without compression");
  CHECK(test::contains(refusal(joined({{std::byte{0x78}, std::byte{0x9c}}, byte_vector(30)})),
                       "one compressed by zlib"));
  CHECK(test::contains(refusal(byte_vector(30, std::byte{7})),
                       "is no TFRecord file: the checksum of the first record's length is wrong"));
}

TEST_CASE("tfrecord, bad input: a record that differs is an error with field and sample",
          "[dataset][host]") {
  const auto last = [](const std::vector<named>& features) {
    return refusal(joined({good(), framed(example(features))}));
  };
  const std::string at = "sample 1, byte " + std::to_string(good().size() + 12) + ": ";
  const named p{"p", float_feature({1})};
  CHECK(last({}) == ": field 'p', " + at + "the record has no value of this field");
  CHECK(last({{"p", {}}}) == ": field 'p', " + at + "the record has no value of this field");
  CHECK(last({{"p", float_feature({1, 2})}}) ==
        ": field 'p', " + at + "has 2 values, but p: float32[] takes 1" + std::string{way_out});
  CHECK(last({{"p", int64_feature({1})}}) ==
        ": field 'p', " + at + "has int64, not float" + std::string{way_out});
  CHECK(last({p, {"w", bytes_feature({bytes_in("x")})}}) ==
        ": field 'w', " + at + "has bytes, not int64" + std::string{way_out});
  CHECK(test::contains(last({p, {"w", int64_feature({1, 2, 3})}}),
                       ": field 'w', " + at + "has 3 elements"));
}

TEST_CASE("tfrecord, bad input: damaged protocol buffers are errors, however deep they nest",
          "[dataset][host]") {
  const auto last = [](const byte_vector& record) {
    const std::string told = refusal(joined({good(), framed(record)}));
    const std::string begin = ": sample 1, byte " + std::to_string(good().size() + 12) + ": ";
    return told.substr(0, begin.size()) == begin ? told.substr(begin.size()) : told;
  };
  CHECK(last({std::byte{10}}) == "the protocol buffer is cut short: it ends within a field");
  CHECK(last({std::byte{10}, std::byte{5}, std::byte{0}}) ==
        "the protocol buffer is cut short: it ends within a field");
  CHECK(last({std::byte{0}}) == "is no protocol buffer: it has a field 0");
  CHECK(last({std::byte{11}}) == "is no protocol buffer of this kind: field 1 is of wire type 3");
  CHECK(last(byte_vector(11, std::byte{0x80})) ==
        "is no protocol buffer: a number is longer than 10 bytes");
  CHECK(last(joined({varint(1 << 3), varint(7)})) ==
        "is no tf.train.Example: the map of features is a number");
  CHECK(last(example({{"p", joined({float_feature({1}), float_feature({1})})}})) ==
        "a feature has two lists of float");
  CHECK(last(example({{"p", field_of(2, field_of(1, byte_vector(3)))}})) ==
        "is no tf.train.Example: a list of float has a value of another kind");
  CHECK(test::contains(last(example({{"w", field_of(3, field_of(1, {std::byte{0x80}}))}})),
                       "ends within a number"));
  byte_vector deep;
  for (int level = 0; level < 1000; ++level) deep = field_of(1, deep);
  CHECK_FALSE(last(deep).empty());
  // Unknown fields are skipped, as by protocol buffers, and the last value of a name counts.
  const auto known = example({{"p", float_feature({1})}, {"p", float_feature({2})}});
  CHECK(last(joined({varint(9 << 3), varint(1), field_of(8, deep), known})) ==
        "[nothing was thrown]");
}

TEST_CASE("tfrecord, bad input: records of no features are refused with a way out",
          "[dataset][host]") {
  const test::temporary_directory folder;
  const auto empty = folder.write("empty", framed({}));
  CHECK(test::contains(test::message_of<dataset_error>([&] { (void)open(empty); }),
                       "is no tf.train.Example with a feature that can be a field; give "
                       "tfrecord_options::record, which decodes it"));
  CHECK(test::contains(
      refusal(framed(example(
          {{"w", int64_feature({1})}, {"m", bytes_feature({bytes_in("a"), bytes_in("b")})}}))),
      "[nothing was thrown]"));
}
