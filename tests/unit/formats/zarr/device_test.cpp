/// Zarr's chunks as a device decodes them: the same batches and errors as readers give.

#include <feedline/arrays/array_views.hpp>
#include <feedline/arrays/windows.hpp>
#include <feedline/error.hpp>
#include <feedline/formats/zarr.hpp>
#include <feedline/loader/loader.hpp>
#include <feedline/sampler/sequential.hpp>
#include <feedline/sampler/shuffle.hpp>

#include "formats/crc32c.hpp"
#include "formats/zarr/codecs.hpp"
#include "support/checks/catch.hpp"
#include "support/checks/contains.hpp"
#include "support/datasets/encoded_check.hpp"
#include "support/devices/scripted_device.hpp"
#include "support/files/zarr_folder.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

using namespace feedline;
using namespace feedline::test;

namespace {

const zarr_options nothing_resident{.max_resident_bytes = 0};
constexpr std::uint64_t rows = 90;
constexpr std::uint64_t row_bytes = 5;

bool knows(detail::zarr_codec_kind kind) {
  return detail::zarr_codecs{{{.kind = kind}}}.refusal().empty();
}

byte_vector chunk_of(const byte_vector& all, std::uint64_t chunk, std::uint64_t chunk_rows) {
  byte_vector bytes(chunk_rows * row_bytes);
  const auto from = std::span{all}.subspan(chunk * bytes.size());
  std::copy_n(from.begin(), std::min(from.size(), bytes.size()), bytes.begin());
  return bytes;
}

/// "image" of 90 x 5 bytes in chunks, without the third, and "label" uncompressed.
void put_arrays(const zarr_folder& store, const std::string& codec, std::uint64_t chunk_rows) {
  const byte_vector all = counting_bytes(rows * row_bytes);
  store.put(".zgroup", R"({"zarr_format": 2})");
  store.put("image/.zarray", zarr_v2("[90, 5]", '[' + std::to_string(chunk_rows) + ", 5]",
                                     "\"|u1\"", "", R"({"id": ")" + codec + "\"}", "77"));
  for (std::uint64_t chunk = 0; chunk * chunk_rows < rows; ++chunk) {
    const byte_vector plain = chunk_of(all, chunk, chunk_rows);
    if (chunk != 2)
      store.put("image/" + std::to_string(chunk) + ".0",
                codec == "lz4" ? raw_lz4(plain) : raw_zstd(plain));
  }
  store.put("label/.zarray", zarr_v2("[90]", "[40]", "\"|u1\""));
  for (std::uint64_t chunk = 0; chunk < 3; ++chunk) {
    byte_vector labels(40, std::byte{static_cast<unsigned char>(chunk)});
    store.put("label/" + std::to_string(chunk), labels);
  }
}

struct epoch_result {
  std::vector<std::vector<std::byte>> fields;  ///< fields of each batch
  std::optional<std::string> error;
};

epoch_result deliver(const std::string& store, decode_on who, const sampler& order) {
  const scripted on;
  loader loader{open_zarr(store, {{"image"}, {"label"}}, nothing_resident),
                order,
                on.device,
                {.batch_size = 10, .readers = 2, .decode_on = who}};
  REQUIRE(loader.plan().decode_on == who);
  epoch_result seen;
  try {
    for (const batch& batch : loader.epoch(0, on.stream)) {
      on.device->drain(on.stream);
      for (const char* const name : {"image", "label"})
        seen.fields.emplace_back(batch[name].bytes().begin(), batch[name].bytes().end());
    }
  } catch (const stage_error& failure) {
    seen.error = failure.what();
  }
  return seen;
}

}  // namespace

TEST_CASE("zarr decoded on a device: batches are those that readers make", "[loader][host]") {
  const std::string codec = GENERATE("zstd", "lz4");
  const std::uint64_t chunk_rows = GENERATE(as<std::uint64_t>{}, 16U, 1U);
  const auto kind = codec == "lz4" ? detail::zarr_codec_kind::lz4 : detail::zarr_codec_kind::zstd;
  if (!knows(kind)) FEEDLINE_SKIP("feedline was built without the codec's library");
  const zarr_folder store;
  put_arrays(store, codec, chunk_rows);
  check_encoded(*open_zarr(store.path(), {{"image"}, {"label"}}, nothing_resident));
  const sampler order = GENERATE(true, false) ? sampler{shuffle{.seed = 4, .within = chunks(3)}}
                                              : sampler{sequential{}};
  const epoch_result expected = deliver(store.path(), decode_on::cpu, order);
  const epoch_result seen = deliver(store.path(), decode_on::device, order);
  CHECK(expected.fields.size() == 2 * 9);
  CHECK(seen.fields == expected.fields);
  CHECK(seen.error == std::nullopt);
}

TEST_CASE("zarr decoded on a device: a damaged chunk has the error of a read on the CPU",
          "[loader][host]") {
  if (!knows(detail::zarr_codec_kind::zstd)) FEEDLINE_SKIP("feedline was built without libzstd");
  const zarr_folder store;
  put_arrays(store, "zstd", 16);
  byte_vector damaged = raw_zstd(byte_vector(80));
  damaged[5] = std::byte{81};  // the size that the frame states
  store.put("image/3.0", damaged);
  const epoch_result expected = deliver(store.path(), decode_on::cpu, sequential{});
  const epoch_result seen = deliver(store.path(), decode_on::device, sequential{});
  REQUIRE(expected.error);
  CHECK(contains(*expected.error, "chunk (3, 0)"));
  CHECK(seen.error == expected.error);
  CHECK(seen.fields == expected.fields);
}

TEST_CASE("zarr decoded on a device: checksums after the codecs are compared as chunks are read",
          "[loader][host]") {
  if (!knows(detail::zarr_codec_kind::zstd)) FEEDLINE_SKIP("feedline was built without libzstd");
  const zarr_folder store;
  store.put("zarr.json", zarr_v3("[4, 5]", "[2, 5]", "\"uint8\"",
                                 "[" + zarr_bytes + R"(, {"name": "zstd"}, {"name": "crc32c"}])"));
  for (int i = 0; i < 2; ++i) {
    byte_vector bytes = raw_zstd(counting_bytes(10));
    const std::uint32_t sum = detail::crc32c(bytes) ^ (i == 1 ? 1U : 0U);
    for (int k = 0; k < 4; ++k) bytes.push_back(static_cast<std::byte>(sum >> (8 * k)));
    store.put("c/" + std::to_string(i) + "/0", bytes);
  }
  const auto data = open_zarr(store.path(), {{""}}, nothing_resident);
  const auto blocks = data->encoded();
  REQUIRE(blocks);
  REQUIRE(blocks->steps(0).size() == 1);
  CHECK(blocks->steps(0)[0].filter == block_filter::zstd);
  CHECK(stored_bytes(*blocks, 0, 0) == raw_zstd(counting_bytes(10)));
  CHECK_THROWS_AS(stored_bytes(*blocks, 0, 1), dataset_error);
}

TEST_CASE("zarr decoded on a device: windows whose chunks split every dimension",
          "[loader][host]") {
  if (!knows(detail::zarr_codec_kind::zstd)) FEEDLINE_SKIP("feedline was built without libzstd");
  const bool damages = GENERATE(false, true);
  const zarr_folder store;
  store.put("zarr.json", zarr_v3("[12, 10]", "[5, 4]", "\"uint16\"",
                                 "[" + zarr_bytes + R"(, {"name": "zstd"}])", "513"));
  for (unsigned chunk = 0; chunk < 9; ++chunk) {
    const byte_vector plain = counting_bytes(40 + chunk);
    byte_vector bytes = raw_zstd(std::span{plain}.subspan(chunk));
    if (damages && chunk == 5) bytes[5] = std::byte{41};  // the size that the frame states
    if (chunk != 4)
      store.put("c/" + std::to_string(chunk / 3) + "/" + std::to_string(chunk % 3), bytes);
  }
  const auto take = [&](decode_on who) {
    const scripted on;
    const auto array = rename_array(open_zarr_array(store.path(), ""), "v", {"y", "x"});
    loader loader{
        make_windows({{"y", 4}, {"x", 3}}, {{"v", {array}}}),
        sequential{},
        on.device,
        {.batch_size = 5, .readers = 2, .placement = placement::stream, .decode_on = who}};
    CHECK(loader.plan().decode_on == who);
    epoch_result seen;
    try {
      for (const batch& batch : loader.epoch(0, on.stream)) {
        on.device->drain(on.stream);
        seen.fields.emplace_back(batch["v"].bytes().begin(), batch["v"].bytes().end());
      }
    } catch (const stage_error& failure) {
      seen.error = failure.what();
    }
    return seen;
  };
  const epoch_result expected = take(decode_on::cpu);
  const epoch_result seen = take(decode_on::device);
  CHECK(expected.error.has_value() == damages);
  CHECK(seen.error == expected.error);
  CHECK(seen.fields == expected.fields);
}

TEST_CASE("zarr decoded on a device: other chunks go by readers", "[loader][host]") {
  const auto blocks_of = [](const std::string& key, const std::string& document) {
    const zarr_folder store;
    store.put(key, document);
    return open_zarr(store.path(), {{""}}, nothing_resident)->encoded();
  };
  const std::string zstd = R"({"id": "zstd"})";
  if (!knows(detail::zarr_codec_kind::zstd)) FEEDLINE_SKIP("feedline was built without libzstd");
  CHECK(blocks_of(".zarray", zarr_v2("[4, 4]", "[2, 4]", "\"<i2\"", "", zstd)));
  CHECK(!blocks_of(".zarray", zarr_v2("[4, 4]", "[2, 4]", "\">i2\"", "", zstd)));
  CHECK(!blocks_of(".zarray", zarr_v2("[4, 4]", "[2, 2]", "\"<i2\"", "", zstd)));
  CHECK(!blocks_of(".zarray", zarr_v2("[4, 4]", "[2, 4]", "\"<i2\"")));
  CHECK(!blocks_of(".zarray", zarr_v2("[4, 4]", "[2, 4]", "\"<i2\"", R"(, "order": "F")", zstd)));
}
