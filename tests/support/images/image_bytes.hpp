#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace feedline::test {

using byte_vector = std::vector<std::byte>;

/// Pixels, row after row, 1 to 4 samples each.
struct pixels {
  std::uint32_t height = 0;
  std::uint32_t width = 0;
  std::uint32_t channels = 3;
  std::vector<std::uint8_t> values;
  long warnings = 0;  ///< libjpeg's warnings while it decoded them

  [[nodiscard]] std::uint8_t at(std::uint32_t y, std::uint32_t x, std::uint32_t channel) const {
    return values[(std::size_t{y} * width + x) * channels + channel];
  }
};

/// Smooth colours with edges and some noise, as photographs have them; drawn from the seed.
[[nodiscard]] pixels paint(std::uint32_t height, std::uint32_t width, std::uint32_t channels = 3,
                           std::uint32_t seed = 1);

struct jpeg_style {
  int quality = 90;
  bool is_progressive = false;
  bool halves_chroma = true;  ///< 4:2:0
  bool is_ycck = false;       ///< four channels are YCCK, not CMYK
  bool has_adobe_marker = true;
  int luma_across = 0;  ///< luma's sampling factors; 0: as `halves_chroma` says
  int luma_down = 0;
  unsigned restart_interval = 0;   ///< MCUs
  bool has_optimal_codes = false;  ///< not the standard's Huffman tables
  bool is_rgb = false;             ///< three channels are stored as they are
  bool crosses_tables = false;     ///< a component's AC table has another number than its DC table
};

/// Encodes with libjpeg: 1 channel is grey, 3 RGB, 4 CMYK ink.
[[nodiscard]] byte_vector jpeg_bytes(const pixels& image, const jpeg_style& style = {});

/// Pixels from a straightforward use of libjpeg: RGB, or the four channels of CMYK.
/// @param eighths Size to decode to.
[[nodiscard]] pixels decode_jpeg(std::span<const std::byte> file, unsigned eighths = 8);

struct png_style {
  int bit_depth = 8;  ///< 16: each value is doubled to v × 257; less than 8: the upper bits count
  bool has_palette = false;  ///< grey values become indices into one of `palette_colour`
  bool is_interlaced = false;
  bool has_transparent_colour = false;  ///< a tRNS chunk
  std::size_t text_bytes = 0;           ///< size of a comment before the pixels
};

/// Encodes with libpng: 1 channel is grey, 2 grey and alpha, 3 RGB, 4 RGB and alpha.
[[nodiscard]] byte_vector png_bytes(const pixels& image, const png_style& style = {});

/// A channel of a palette's entry.
[[nodiscard]] constexpr std::uint8_t palette_colour(unsigned index, unsigned channel) noexcept {
  return static_cast<std::uint8_t>(index * 37 + channel * 101 + 11);
}

}  // namespace feedline::test
