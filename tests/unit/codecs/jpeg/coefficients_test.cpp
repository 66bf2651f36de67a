/// Coefficients that segments of a scan write to blocks, four at once where they may.

#include "codecs/jpeg/coefficients.hpp"

#include "support/checks/catch.hpp"

#include <array>
#include <cstdint>
#include <vector>

using namespace feedline::detail;

namespace {

/// Blocks that are all zeros, in an order that tells each coefficient's index.
struct blocks_of {
  explicit blocks_of(std::uint32_t count) : values(std::size_t{count} * jpeg_block_samples) {}

  [[nodiscard]] std::int16_t at(std::uint32_t block, std::uint32_t k) const {
    return values[std::size_t{block} * jpeg_block_samples + k];
  }

  std::vector<std::int16_t> values;
};

}  // namespace

TEST_CASE("jpeg coefficients: segments that share four write each its own, in any order",
          "[dataset][host]") {
  for (std::uint32_t cut = 1; cut < 8; ++cut)
    for (const bool is_last_first : {false, true}) {
      CAPTURE(cut, is_last_first);
      blocks_of blocks{2};
      const jpeg_coefficient_writer to{blocks.values.data(), 2};
      const auto write = [&](std::uint32_t begin, std::uint32_t end) {
        jpeg_segment_writer writer{to, 1, begin};
        for (std::uint32_t k = begin; k < end; ++k)
          writer.write(1, k, -1 - static_cast<std::int32_t>(k));
        writer.end();
      };
      if (is_last_first) write(cut, 8);
      write(0, cut);
      if (!is_last_first) write(cut, 8);
      for (std::uint32_t k = 0; k < 64; ++k) {
        CHECK(blocks.at(0, k) == 0);
        CHECK(blocks.at(1, k) == (k < 8 ? -1 - static_cast<std::int32_t>(k) : 0));
      }
    }
}

TEST_CASE("jpeg coefficients: a segment spans blocks, and leaves out zeros", "[dataset][host]") {
  blocks_of blocks{4};
  jpeg_segment_writer writer{{blocks.values.data(), 3}, 0, 6};
  constexpr std::array<std::array<std::uint32_t, 2>, 7> places{
      {{0, 7}, {0, 9}, {0, 63}, {1, 0}, {2, 1}, {2, 62}, {3, 0}}};
  std::int32_t value = 0;
  for (const auto& [block, k] : places) writer.write(block, k, ++value);
  writer.end();
  value = 0;
  std::vector<std::int16_t> wanted(blocks.values.size());
  for (const auto& [block, k] : places) {
    ++value;
    if (block < 3) wanted[std::size_t{block} * 64 + k] = static_cast<std::int16_t>(value);
  }
  CHECK((blocks.values == wanted));
}

TEST_CASE("jpeg coefficients: one past a block's end replaces its last", "[dataset][host]") {
  blocks_of blocks{1};
  const jpeg_coefficient_writer to{blocks.values.data(), 1};
  jpeg_segment_writer writer{to, 0, 0};
  writer.write(0, 62, 5);
  writer.write(0, 63, 0x0F0F);
  writer.write(0, 70, -2);
  writer.end();
  CHECK(blocks.at(0, 62) == 5);
  CHECK(blocks.at(0, 63) == -2);
  to.write(0, 64, 9);
  CHECK(blocks.at(0, 63) == 9);
}

TEST_CASE("jpeg coefficients: a scan has them in the standard's zigzag order", "[dataset][host]") {
  // Figure A.6: numbers of the coefficients in each row.
  constexpr std::array<std::array<std::uint32_t, 8>, 8> numbers{{{0, 1, 5, 6, 14, 15, 27, 28},
                                                                 {2, 4, 7, 13, 16, 26, 29, 42},
                                                                 {3, 8, 12, 17, 25, 30, 41, 43},
                                                                 {9, 11, 18, 24, 31, 40, 44, 53},
                                                                 {10, 19, 23, 32, 39, 45, 52, 54},
                                                                 {20, 22, 33, 38, 46, 51, 55, 60},
                                                                 {21, 34, 37, 47, 50, 56, 59, 61},
                                                                 {35, 36, 48, 49, 57, 58, 62, 63}}};
  for (std::uint32_t y = 0; y < 8; ++y)
    for (std::uint32_t x = 0; x < 8; ++x) {
      const std::uint32_t k = numbers[y][x];
      CHECK((jpeg_places(k / 8 * 8) >> k % 8 * 8 & 255U) == x * 8 + y);
    }
}

TEST_CASE("jpeg coefficients: they are multiplied by their component's factors, in 16 bits",
          "[dataset][host]") {
  std::array<std::uint8_t, 65> file{};
  for (std::uint32_t k = 0; k < 64; ++k) file[1 + k] = static_cast<std::uint8_t>(k + 1);
  jpeg_frame frame{};
  frame.components = 1;
  frame.quantization[2] = 1;
  frame.tables[0].quantization = 2;
  jpeg_factors factors;
  build(factors, file.data(), frame);
  for (std::uint32_t k = 0; k < 64; ++k) CHECK(factors.of[0][k] == k + 1);
  CHECK(jpeg_product(-3, 255) == -765);
  CHECK(jpeg_product(2047, 16) == 32752);
  CHECK(jpeg_product(2048, 16) == -32768);
  CHECK(jpeg_product(-2049, 16) == 32752);
}

TEST_CASE(
    "jpeg coefficients: products lie by columns, and the lower rows are looked at before that",
    "[dataset][host]") {
  for (std::uint32_t k = 0; k < 64; ++k) {
    CAPTURE(k);
    const auto place = static_cast<std::uint32_t>(jpeg_places(k) & 255U);
    for (const int coefficient : {0, -3, 512}) {  // 512 * 128 is 0 in 16 bits
      jpeg_eight eight{{}, {0x80808080, 0x80808080}};
      eight.coefficients[k % 8 / 2] = std::uint32_t{static_cast<std::uint16_t>(coefficient)}
                                      << k % 2 * 16;
      std::array<std::int16_t, 64> products{};
      products.fill(7);
      const bool is_empty_below =
          place_jpeg_products(eight, jpeg_places(k / 8 * 8), products.data());
      CHECK(is_empty_below == (coefficient == 0 || place % 8 == 0));
      CHECK(products.at(place) == static_cast<std::int16_t>(coefficient * 128));
    }
  }
}
