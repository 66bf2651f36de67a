/// Pixels that the lanes of a warp, and the parts that GPUs' kernels are made of, decode of JPEG
/// files: to the bit those of libjpeg.

#include "image/jpeg/pixels.hpp"

#include "image/jpeg/idct.hpp"
#include "support/checks/catch.hpp"
#include "support/checks/sanitized.hpp"
#include "support/files/image_bytes.hpp"
#include "support/files/jpeg_scans.hpp"

#include <algorithm>
#include <cstddef>
#include <random>
#include <string>
#include <vector>

using namespace feedline;
using test::byte_vector;
using test::jpeg_bytes;
using test::jpeg_coefficients;
using test::jpeg_file;
using test::jpeg_scan_result;
using test::jpeg_style;
using test::paint;
using test::pixels;
using test::read_jpeg_scan;

namespace {

/// Transforms blocks in place, as a GPU does: a lane a column, then a lane a row.
void transform(std::vector<std::int16_t>& blocks) {
  for (std::size_t block = 0; block < blocks.size(); block += detail::jpeg_block_samples) {
    detail::jpeg_idct_line columns[8];
    for (std::size_t x = 0; x < 8; ++x) {
      for (std::size_t y = 0; y < 8; ++y) columns[x].value[y] = blocks[block + y * 8 + x];
      detail::jpeg_idct_column(columns[x]);
    }
    auto* const samples = reinterpret_cast<std::uint8_t*>(blocks.data() + block);
    for (std::size_t y = 0; y < 8; ++y) {
      detail::jpeg_idct_line row;
      for (std::size_t x = 0; x < 8; ++x) row.value[x] = columns[x].value[y];
      detail::jpeg_idct_row(row);
      for (std::size_t x = 0; x < 8; ++x)
        samples[y * 8 + x] = static_cast<std::uint8_t>(row.value[x]);
    }
  }
}

/// Makes pixels of samples, as the threads of a GPU do: tile by tile.
pixels make_pixels(const detail::jpeg_frame& frame, const std::uint8_t* samples) {
  using tile = detail::jpeg_chroma_tile;
  constexpr std::uint32_t threads = 32;
  const detail::jpeg_pixels made{samples, frame};
  const std::size_t row_bytes = detail::jpeg_row_bytes(frame.width);
  std::vector<std::uint8_t> planes(row_bytes * 3 * frame.height);
  for (std::uint32_t top = 0; top < frame.height; top += tile::height)
    for (std::uint32_t left = 0; left < frame.width; left += tile::width) {
      auto chroma = std::make_unique<tile>();
      std::memset(chroma->samples, 0x5A, sizeof chroma->samples);
      for (std::uint32_t i = 0; i < threads; ++i) made.fill(*chroma, top, left, i, threads);
      const std::uint32_t bottom = std::min<std::uint32_t>(top + tile::height, frame.height);
      const std::uint32_t right = std::min<std::uint32_t>(left + tile::width, frame.width);
      for (std::uint32_t y = top; y < bottom; y += detail::jpeg_pixels::square)
        for (std::uint32_t x = left; x < right; x += detail::jpeg_pixels::square)
          made.make(*chroma, y, x, planes.data());
    }
  pixels image{frame.height, frame.width, 3, {}};
  for (std::uint32_t y = 0; y < frame.height; ++y)
    for (std::uint32_t x = 0; x < frame.width; ++x)
      for (std::uint32_t channel = 0; channel < 3; ++channel)
        image.values.push_back(planes[(std::size_t{3} * y + channel) * row_bytes + x]);
  return image;
}

template <std::uint32_t Lanes>
pixels decode(const byte_vector& bytes) {
  const jpeg_file file{bytes};
  const detail::jpeg_frame& frame = file.frame;
  REQUIRE(file.is_read);
  const jpeg_scan_result found = read_jpeg_scan<Lanes>(file);
  REQUIRE(found.is_whole);
  std::vector<std::int16_t> blocks = jpeg_coefficients(file, found.blocks);
  transform(blocks);
  return make_pixels(frame, reinterpret_cast<const std::uint8_t*>(blocks.data()));
}

struct sampling {
  const char* name;
  int across;
  int down;
};

const std::vector<sampling> samplings{
    {"4:4:4", 1, 1}, {"4:2:2", 2, 1}, {"4:2:0", 2, 2}, {"4:4:0", 1, 2}};

}  // namespace

TEST_CASE("jpeg pixels: they are libjpeg's, whoever decodes, at all samplings and sides",
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

TEST_CASE("jpeg pixels: of all qualities, with restarts and codes of their own, they are libjpeg's",
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

TEST_CASE("jpeg pixels: each component has the tables that its file says", "[dataset][host]") {
  const byte_vector file = jpeg_bytes(paint(200, 310), {.crosses_tables = true});
  const jpeg_file read{file};
  REQUIRE(read.frame.tables[0].dc != read.frame.tables[0].ac);
  const pixels expected = test::decode_jpeg(file);
  CHECK((decode<0>(file).values == expected.values));
  CHECK((decode<32>(file).values == expected.values));
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
