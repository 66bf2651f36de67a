/// Pixels that the lanes of a warp, and the parts that GPUs' kernels are made of, decode of JPEG
/// files: to the bit those of libjpeg.

#include "codecs/jpeg/pixels.hpp"

#include <feedline/image/decode.hpp>

#include "support/checks/catch.hpp"
#include "support/checks/sanitized.hpp"
#include "support/files/file_bytes.hpp"
#include "support/files/test_data.hpp"
#include "support/images/drawn_jpeg.hpp"
#include "support/images/image_bytes.hpp"
#include "support/images/jpeg_pixels.hpp"
#include "support/images/jpeg_scans.hpp"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <random>
#include <span>
#include <string>
#include <vector>

using namespace feedline;
using test::byte_vector;
using test::jpeg_bytes;
using test::jpeg_file;
using test::jpeg_scan_result;
using test::jpeg_style;
using test::paint;
using test::pixels;
using test::read_jpeg_scan;

namespace {

template <std::uint32_t Lanes>
pixels decode(const byte_vector& file) {
  const auto decoded = test::decode_jpeg_by_parts<Lanes>(file);
  REQUIRE(decoded);
  return *decoded;
}

struct sampling {
  const char* name;
  int across;
  int down;
};

const std::vector<sampling> samplings{
    {"4:4:4", 1, 1}, {"4:2:2", 2, 1}, {"4:2:0", 2, 2}, {"4:4:0", 1, 2}, {"4:1:1", 4, 1}};

}  // namespace

TEST_CASE("jpeg pixels: every way of decoding gives libjpeg's, at all samplings and sides",
          "[dataset][host]") {
  for (const sampling& each : samplings) {
    std::vector<std::pair<std::uint32_t, std::uint32_t>> sizes{{300, 400}, {301, 299}, {97, 500}};
    for (std::uint32_t side = 1; side < 36; ++side) {
      sizes.emplace_back(side, 40);
      sizes.emplace_back(33, side);
      sizes.emplace_back(side, side);
    }
    for (const auto& [height, width] : sizes) {
      const byte_vector file = jpeg_bytes(paint(height, width, 3, height + width),
                                          {.luma_across = each.across, .luma_down = each.down});
      const pixels expected = test::decode_jpeg(file);
      CAPTURE(each.name, height, width);
      CHECK((decode<0>(file).values == expected.values));
      CHECK((decode<32>(file).values == expected.values));
    }
  }
}

TEST_CASE("jpeg pixels: grey ones are libjpeg's, whatever the sampling that their file says",
          "[dataset][host]") {
  for (const int factor : {1, 2, 4})
    for (const std::uint32_t side : {1U, 8U, 33U, 300U}) {
      const byte_vector file = jpeg_bytes(paint(side, side + 5, 1, side),
                                          {.luma_across = factor, .luma_down = 5 - factor});
      const pixels expected = test::decode_jpeg(file);
      CAPTURE(factor, side);
      CHECK((decode<0>(file).values == expected.values));
      CHECK((decode<32>(file).values == expected.values));
    }
}

TEST_CASE("jpeg pixels: if grey is wanted, they are the luma that libjpeg gives",
          "[dataset][host]") {
  for (const sampling& each : samplings)
    for (const std::uint32_t side : {1U, 7U, 8U, 33U, 130U, 300U})
      for (const std::uint32_t channels : {1U, 3U}) {
        const byte_vector file = jpeg_bytes(paint(side, side + 5, channels, side),
                                            {.luma_across = each.across, .luma_down = each.down});
        CAPTURE(each.name, side, channels);
        const auto decoder = make_image_decoder({.height = side, .width = side + 5, .channels = 1});
        std::vector<std::uint8_t> expected(std::size_t{side} * (side + 5));
        decoder->decode(file, decoder->describe(file), std::as_writable_bytes(std::span{expected}),
                        {});
        const auto seen = test::decode_jpeg_by_parts<32>(file, true);
        REQUIRE(seen);
        CHECK((seen->values == expected));
      }
}

TEST_CASE("jpeg pixels: they are libjpeg's at all qualities, with restarts and optimal codes",
          "[dataset][host]") {
  std::mt19937 random{5};
  test::combinations cases;
  for (const sampling& each : samplings) {
    for (const int quality : {1, 10, 50, 75, 95, 100}) {
      for (const bool has_optimal_codes : {false, true}) {
        if (!cases.takes_next()) continue;
        auto image = paint(200, 310, 3, static_cast<std::uint32_t>(quality));
        for (auto& value : image.values) value = static_cast<std::uint8_t>(value ^ random() % 64);
        byte_vector file = jpeg_bytes(image, {.quality = quality,
                                              .luma_across = each.across,
                                              .luma_down = each.down,
                                              .restart_interval = quality == 75 ? 7U : 0U,
                                              .has_optimal_codes = has_optimal_codes});
        const pixels expected = test::decode_jpeg(file);
        CAPTURE(each.name, quality, has_optimal_codes);
        // One reader goes its fast way, amid an MCU, until it meets the scan's end.
        if (has_optimal_codes) file.resize(file.size() + 4000);
        CHECK((decode<0>(file).values == expected.values));
        CHECK((decode<4>(file).values == expected.values));
        CHECK((decode<32>(file).values == expected.values));
      }
    }
  }
}

TEST_CASE("jpeg pixels: coefficients larger than any image's give libjpeg's pixels",
          "[dataset][host]") {
  if (!test::libjpeg_is_reference) FEEDLINE_SKIP("libjpeg for x86-64 defines these pixels");
  constexpr std::uint32_t count = test::sanitized ? 60 : 500;
  int grey = 0;
  for (std::uint32_t seed = 0; seed < count; ++seed) {
    const byte_vector file = test::draw_jpeg(seed);
    const pixels expected = test::decode_jpeg(file);
    CAPTURE(seed);
    REQUIRE(expected.warnings == 0);
    CHECK((decode<0>(file).values == expected.values));
    CHECK((decode<4>(file).values == expected.values));
    CHECK((decode<32>(file).values == expected.values));
    grey += jpeg_file{file}.frame.components == 1 ? 1 : 0;
  }
  CHECK(grey > static_cast<int>(count) / 12);
  CHECK(grey < static_cast<int>(count) / 3);
}

TEST_CASE("jpeg pixels: foreign files of such coefficients give libjpeg's pixels",
          "[dataset][host]") {
  if (!test::libjpeg_is_reference) FEEDLINE_SKIP("libjpeg for x86-64 defines these pixels");
  for (const char* const name : {"coefficients_1.jpg", "coefficients_2.jpg"}) {
    const auto path = test::find_test_data(std::filesystem::path{"found/second/gpu-jpeg"} / name);
    if (!path) FEEDLINE_SKIP("no foreign files: name their folder's parent in FEEDLINE_TEST_DATA");
    const byte_vector file = test::bytes_of_file(*path);
    const pixels expected = test::decode_jpeg(file);
    CAPTURE(name);
    CHECK(expected.warnings == 0);
    CHECK((decode<0>(file).values == expected.values));
    CHECK((decode<32>(file).values == expected.values));
  }
}

TEST_CASE("jpeg pixels: each component has the tables that its file says", "[dataset][host]") {
  const byte_vector file = jpeg_bytes(paint(200, 310), {.crosses_tables = true});
  const jpeg_file read{file};
  REQUIRE(read.frame.tables[0].dc != read.frame.tables[0].ac);
  const pixels expected = test::decode_jpeg(file);
  CHECK((decode<0>(file).values == expected.values));
  CHECK((decode<32>(file).values == expected.values));
}

TEST_CASE(
    "jpeg pixels: if ones stand before data, they are libjpeg's, which takes these for a marker",
    "[dataset][host]") {
  // libjpeg's fast path continues with zeros to the end of the MCU, and keeps the result.
  byte_vector file = jpeg_bytes(paint(120, 160), {.quality = 95, .has_optimal_codes = true});
  const std::size_t end = file.size() - 2;
  file.resize(file.size() + 4000);
  int count = 0;
  int changed = 0;
  const std::vector<std::uint8_t> plain = test::decode_jpeg(file).values;
  for (std::size_t at = jpeg_file{file}.frame.scan; at < end; ++at) {
    if (file[at] != std::byte{0xFF} || file[at + 1] != std::byte{0}) continue;
    byte_vector with_ones = file;
    with_ones.insert(with_ones.begin() + static_cast<std::ptrdiff_t>(at), 2, std::byte{0xFF});
    const pixels expected = test::decode_jpeg(with_ones);
    CAPTURE(at);
    REQUIRE(expected.warnings == 0);
    CHECK((decode<0>(with_ones).values == expected.values));
    CHECK((decode<32>(with_ones).values == expected.values));
    changed += expected.values == plain ? 0 : 1;
    if (++count == 60) break;
  }
  CHECK(count > 20);
  CHECK(changed > 0);
}

TEST_CASE("jpeg pixels: blocks that there is no room for are not written", "[dataset][host]") {
  const jpeg_file file{jpeg_bytes(paint(300, 400), {.quality = 95})};
  const std::uint32_t room = file.blocks() / 2;
  const jpeg_scan_result all = read_jpeg_scan<0>(file);
  for (const jpeg_scan_result& half :
       {read_jpeg_scan<0>(file, room, file.bytes), read_jpeg_scan<32>(file, room, file.bytes)}) {
    const auto end = half.blocks.begin() + std::ptrdiff_t{room} * detail::jpeg_block_samples;
    CHECK(std::equal(half.blocks.begin(), end, all.blocks.begin()));
    CHECK(std::ranges::count(end, half.blocks.end(), 0) == half.blocks.end() - end);
  }
}

TEST_CASE("jpeg pixels: a block of too many coefficients has libjpeg's last one",
          "[dataset][host]") {
  // Grey, so that the file is a single block: a first coefficient of no bits, and four times 15
  // zeros and a value of one bit, of which the last is coefficient 64. Codes are the standard's.
  byte_vector file = jpeg_bytes(paint(8, 8, 1));
  const std::uint32_t begin = jpeg_file{file}.frame.scan;
  file.resize(begin);
  std::string bits = "00";
  for (const char sign : {'1', '1', '1', '0'}) bits += std::string{"1111111111110101"} + sign;
  while (bits.size() % 8 != 0) bits += '1';
  for (std::size_t i = 0; i < bits.size(); i += 8) {
    file.push_back(std::byte(std::stoul(bits.substr(i, 8), nullptr, 2)));
    if (file.back() == std::byte{0xFF}) file.push_back(std::byte{0});
  }
  file.insert(file.end(), {std::byte{0xFF}, std::byte{0xD9}});
  const jpeg_scan_result found = read_jpeg_scan<0>(jpeg_file{file});
  CHECK(found.is_whole);
  CHECK(found.blocks.back() < 0);
}
