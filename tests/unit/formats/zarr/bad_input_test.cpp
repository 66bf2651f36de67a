/// Zarr stores that lie or are damaged: an error names the array, the chunk and what is wrong, and
/// nothing is allocated that a tiny file claims.

#include <feedline/error.hpp>
#include <feedline/formats/open.hpp>
#include <feedline/formats/zarr.hpp>

#include "formats/zarr/chunks.hpp"
#include "support/checks/catch.hpp"
#include "support/checks/contains.hpp"
#include "support/checks/message_of.hpp"
#include "support/datasets/dataset_contract.hpp"
#include "support/files/zarr_folder.hpp"

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

using namespace feedline;
using namespace feedline::test;

namespace {

const zarr_options nothing_resident{.max_resident_bytes = 0};
const std::string plain = '[' + zarr_bytes + ']';

/// The error of opening a store that has this document, and of reading its last row.
std::string refusal(const std::string& key, const std::string& document) {
  const zarr_folder store;
  store.put(key, document);
  return message_of<dataset_error>([&] {
    const auto data = open_zarr(store.path(), {{""}}, nothing_resident);
    (void)read_sample(*data, {data->size() - 1});
  });
}

std::string refusal_v3(const std::string& shape, const std::string& chunk, const std::string& type,
                       const std::string& codecs = plain, const std::string& fill = "0",
                       const std::string& more = "") {
  return refusal("zarr.json", zarr_v3(shape, chunk, type, codecs, fill, more));
}

struct bad_case {
  std::string document;
  std::string words;
};

}  // namespace

TEST_CASE("zarr, bad input: metadata of version 3 that lie are refused with what is wrong",
          "[dataset][host]") {
  const std::string u1 = "\"uint8\"";
  const auto sharded = [](const std::string& more) {
    return R"([{"name": "sharding_indexed", "configuration": {"chunk_shape": [1], "codecs": )" +
           plain + more + "}}]";
  };
  const std::vector<bad_case> cases{
      {"{", "no JSON"},
      {"[1]", "but should be an object"},
      {R"({"zarr_format": 3, "zarr_format": 3})", "two members named 'zarr_format'"},
      {std::string(100, '[') + std::string(100, ']'), "nested more than 64 levels deep"},
      {zarr_v3("[4]", "[0]", u1, plain), "numbers, 1 or more"},
      {zarr_v3("[-4]", "[1]", u1, plain), "whole numbers, 0 or more"},
      {zarr_v3("[\"4\"]", "[1]", u1, plain), "whole numbers, 0 or more"},
      {zarr_v3("[4.5]", "[1]", u1, plain), "whole numbers, 0 or more"},
      {zarr_v3("[4]", "[1, 1]", u1, plain), "chunks of 2 dimensions, and a shape of 1"},
      {zarr_v3("[]", "[]", u1, plain), "a single value"},
      {zarr_v3("[0]", "[1]", u1, plain), "has no samples"},
      {zarr_v3("[4, 0]", "[1, 1]", u1, plain), "samples without values"},
      {zarr_v3("[1152921504606846976]", "[1]", u1, plain), "chunks or more"},
      {zarr_v3("[1152921504606846976, 1024]", "[1024, 1024]", u1, plain), "chunks or more"},
      {zarr_v3("[100000000]", "[1]", u1, plain), "claims 100000000 chunks, but only 0 bytes"},
      {zarr_v3("[1, 4611686018427387904]", "[1, 1073741824]", u1, plain),
       "of this machine's memory"},
      {zarr_v3("[1, 4611686018427387904, 4]", "[1, 1073741824, 1]", u1, plain), "63 bits"},
      {zarr_v3("[4611686018427387904]", "[4611686018427387904]", u1, plain), "4 GiB"},
      {zarr_v3("[4]", "[1]", "\"float8_e4m3\"", plain), "is of type \"float8_e4m3\""},
      {zarr_v3("[4]", "[1]", "7", plain), "is of type 7"},
      {zarr_v3("[4]", "[1]", u1, plain, "256"), "fill value 256, which does not fit its type"},
      {zarr_v3("[4]", "[1]", u1, plain, "\"0\""), "fill value \"0\""},
      {zarr_v3("[4]", "[1]", "\"float32\"", plain, "\"0x7f\""), "fill value \"0x7f\""},
      {zarr_v3("[4]", "[1]", "\"complex64\"", plain, "[1]"), "a list of two numbers"},
      {zarr_v3("[4]", "[1]", u1, "[]"), "no codec 'bytes'"},
      {zarr_v3("[4]", "[1]", u1, "\"bytes\""), "a list of codecs"},
      {zarr_v3("[4]", "[1]", "\"uint16\"", R"([{"name": "bytes"}])"), "has no \"endian\""},
      {zarr_v3("[4]", "[1]", u1, "[" + zarr_bytes + R"(, {"name": "zfpy"}])"),
       "the codec 'zfpy' is not one that feedline decodes"},
      {zarr_v3("[4]", "[1]", u1, R"([{"name": "zstd"}, )" + zarr_bytes + "]"),
       "comes before the codec 'bytes'"},
      {zarr_v3("[4]", "[1]", u1,
               R"([{"name": "transpose", "configuration": {"order": [1]}}, )" + zarr_bytes + "]"),
       "the array's 1 axes, each once"},
      {zarr_v3("[4]", "[1]", u1,
               "[" + zarr_bytes +
                   R"(, {"name": "numcodecs.shuffle", "configuration": {"elementsize": 0}}])"),
       "bytes of an element, 1 or more"},
      {zarr_v3("[4]", "[3]", u1,
               R"([{"name": "sharding_indexed", "configuration": {"chunk_shape": [2]}}])"),
       "extents that divide the shard's"},
      {zarr_v3("[4]", "[2]", u1, sharded(R"(, "index_codecs": [{"name": "zstd"}])")),
       "in the codecs of a shard's index"},
      {zarr_v3("[4]", "[2]", u1, sharded(R"(, "index_codecs": [], "index_location": "middle")")),
       "\"start\" or \"end\""},
      {zarr_v3("[4]", "[1]", u1, plain, "0", R"(, "surprise": {"must_understand": true})"),
       "feedline does not know it"},
      {zarr_v3("[4]", "[1]", u1, plain, "0", R"(, "storage_transformers": [{"name": "x"}])"),
       "feedline knows none"},
  };
  for (const bad_case& each : cases) {
    CAPTURE(each.document);
    const std::string message = refusal("zarr.json", each.document);
    CAPTURE(message);
    CHECK(contains(message, each.words));
  }
  CHECK(refusal_v3("[4]", "[2]", u1, plain, "0", R"(, "extra": {"must_understand": false})") ==
        "[nothing was thrown]");
}

TEST_CASE("zarr, bad input: metadata of version 2 that lie are refused with what is wrong",
          "[dataset][host]") {
  const std::string u1 = "\"|u1\"";
  const std::vector<bad_case> cases{
      {R"({"zarr_format": 2})", "has no \"shape\""},
      {zarr_v2("[4]", "[2]", "\"|u2\""), "does not say the order of its bytes"},
      {zarr_v2("[4]", "[2]", "\"|S3\""), "is of type \"|S3\""},
      {zarr_v2("[4]", "[2]", R"([["a", "<i4"]])"), "holds records"},
      {zarr_v2("[4]", "[2]", u1, R"(, "order": "K")"), "\"C\" or \"F\""},
      {zarr_v2("[4]", "[2]", u1, R"(, "dimension_separator": "-")"), "\".\" or \"/\""},
      {zarr_v2("[4]", "[2]", u1, "", "7"), "the compressor is 7, but should be an object"},
      {zarr_v2("[4]", "[2]", u1, "", "{}"), "the compressor has no \"id\""},
      {zarr_v2("[4]", "[2]", u1, "", R"({"id": "lzma"})"),
       "the compressor 'lzma' is not one that feedline decodes"},
      {zarr_v2("[4]", "[2]", u1, R"(, "filters": [{"id": "delta", "dtype": "<i4"}])"),
       "a type of 1 bytes, as the array's elements have"},
      {zarr_v2("[4]", "[2]", "\"<f4\"",
               R"(, "filters": [{"id": "fixedscaleoffset", "dtype": "<f4", "scale": 0,
                 "offset": 1}])"),
       "a number other than 0"},
  };
  for (const bad_case& each : cases) {
    CAPTURE(each.document);
    const std::string message = refusal(".zarray", each.document);
    CAPTURE(message);
    CHECK(contains(message, each.words));
  }
}

TEST_CASE("zarr, bad input: a damaged chunk is named, and only its samples are lost",
          "[dataset][host]") {
  const zarr_folder store;
  store.put("zarr.json",
            zarr_v3("[6]", "[2]", "\"uint8\"", "[" + zarr_bytes + R"(, {"name": "crc32c"}])"));
  store.put("c/0", memory_of<std::uint8_t>({1, 2, 0, 0, 0, 0}));
  store.put("c/1", memory_of<std::uint8_t>({1, 2}));
  const auto data = open_zarr(store.path(), {{""}}, nothing_resident);
  const auto lost = [&](std::uint64_t sample) {
    return message_of<dataset_error>([&] { (void)read_sample(*data, {sample}); });
  };
  CHECK(lost(1) == store.path() +
                       "/c/0: sample 1: chunk (0) of 6 bytes: does not decode: crc32c: the "
                       "checksum does not match: the bytes are damaged; copy it again, or write "
                       "the array again");
  CHECK(contains(lost(2), "chunk (1) of 2 bytes: does not decode: crc32c: 2 bytes are too few"));
  CHECK(read_sample(*data, {4}).front() == memory_of<std::uint8_t>({0}));
}

TEST_CASE("zarr, bad input: chunks that are empty, cut, or written again while they are open",
          "[dataset][host]") {
  const zarr_folder store;
  store.put("zarr.json", zarr_v3("[8]", "[2]", "\"uint8\"", plain));
  store.put("c/0", byte_vector{});
  store.put("c/1", byte_vector(1));
  store.put("c/2", byte_vector(2));
  store.put("c/3", byte_vector(2));
  const auto data = open_zarr(store.path(), {{""}}, nothing_resident);
  const auto lost = [&](std::uint64_t sample) {
    return message_of<dataset_error>([&] { (void)read_sample(*data, {sample}); });
  };
  CHECK(contains(lost(0), "/c/0: sample 0: chunk (0) of 0 bytes: is empty"));
  CHECK(contains(lost(2), "a chunk of 2 bytes is stored, uncompressed, in 1 byte"));
  store.put("c/2", byte_vector(1));
  CHECK(contains(lost(5), "/c/2: sample 5: chunk (2) of 2 bytes: was written again since"));
  std::filesystem::remove(store.path() + "/c/3");
  CHECK(contains(lost(7), "chunk (3) of 2 bytes: was deleted since"));
}

TEST_CASE("zarr, bad input: indexes of shards that lie", "[dataset][host]") {
  constexpr std::uint64_t missing = ~std::uint64_t{0};
  const detail::zarr_shards at_end{.index_has_crc32c = false};
  const auto refused = [&](const std::vector<std::uint64_t>& numbers, std::uint64_t bytes = 132) {
    return message_of<dataset_error>([&] {
      (void)detail::parse_shard_index(memory_of(numbers), at_end, numbers.size() / 2, bytes,
                                      bytes - numbers.size() * 8);
    });
  };
  CHECK(refused({0, 50, 50, 50}) == "[nothing was thrown]");
  CHECK(refused({missing, missing, 50, 50}) == "[nothing was thrown]");
  CHECK(contains(refused({0, 50, 49, 50}), "chunks 0 and 1 overlap"));
  CHECK(contains(refused({60, 40, 0, 61}), "chunks 1 and 0 overlap"));
  CHECK(contains(refused({0, 50, 50, 51}), "has chunk 1 within the index"));
  CHECK(contains(refused({0, 50, 50, 133}), "has chunk 1 at byte 50, with 133 bytes"));
  CHECK(contains(refused({missing, 1, 0, 1}), "has chunk 0"));
  CHECK(contains(refused({missing - 1, missing, 0, 1}), "has chunk 0"));
  CHECK(contains(refused({5, 0, 0, 1}), "with 0 bytes"));

  const zarr_folder store;
  store.put(
      "zarr.json", zarr_v3("[1000000000]", "[500000000]", "\"uint8\"",
                           R"([{"name": "sharding_indexed", "configuration": {"chunk_shape": [500],
         "codecs": )" + plain + R"(, "index_codecs": )" +
                               plain + "}}]"));
  store.put("c/0", byte_vector(100));
  CHECK(contains(message_of<dataset_error>([&] { (void)open_zarr(store.path(), {{""}}); }),
                 "/c/0: the shard has 100 bytes, too few for its index of 1000000 chunks"));
}

TEST_CASE("zarr, bad input: arrays that cannot be read are errors, unless others are named",
          "[dataset][host]") {
  const zarr_folder store;
  store.put("zarr.json", zarr_group);
  store.put("a/zarr.json", zarr_v3("[2]", "[2]", "\"uint8\"", plain));
  store.put("b/zarr.json", zarr_v3("[2]", "[0]", "\"uint8\"", plain));
  store.put("c/zarr.json", "{");
  CHECK(contains(message_of<dataset_error>([&] { (void)open(store.path()); }),
                 "field 'b': the chunk grid 'regular' has \"chunk_shape\": [0]"));
  CHECK(contains(message_of<dataset_error>([&] { (void)open(store.path()); }),
                 "neither can be read c; to open the store without unreadable arrays, name fields "
                 "in open_options::fields, of a"));
  CHECK(open(store.path(), {.fields = {"a"}})->size() == 2);
  CHECK(contains(list_fields(store.path())[2].refusal, "no JSON"));
}

TEST_CASE("zarr, bad input: a link that leads back ends in an error", "[dataset][host]") {
  const zarr_folder store;
  store.put("zarr.json", zarr_group);
  store.put("g/zarr.json", zarr_group);
  std::filesystem::create_directory_symlink("..", store.path() + "/g/back");
  CHECK(contains(message_of<dataset_error>([&] { (void)open(store.path()); }),
                 "groups are nested more than 32 levels deep"));
}
