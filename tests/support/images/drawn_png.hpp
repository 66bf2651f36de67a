#pragma once

#include "support/images/image_bytes.hpp"

#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <vector>

namespace feedline::test {

/// Parts of a PNG that a test joins, and may change before.
struct png_parts {
  std::uint32_t height = 1;
  std::uint32_t width = 1;
  std::uint8_t depth = 8;
  std::uint8_t colours = 2;
  std::uint8_t interlace = 0;
  std::vector<std::uint8_t> palette;
  std::vector<std::uint8_t> filtered;  ///< rows, each after its filter
  std::vector<std::uint8_t> stream;    ///< zlib's, of the filtered rows
  std::size_t chunk_bytes = 8192;      ///< size of an IDAT chunk
  bool has_empty_chunks = false;       ///< IDAT chunks without bytes are between the others
  bool has_others = false;             ///< chunks that do not change pixels, before and after
};

/// Appends a chunk, with its checksum.
void add_png_chunk(byte_vector& file, const char* name, std::span<const std::uint8_t> data);

/// Compresses as zlib does. @param window_bits 8 to 15.
[[nodiscard]] std::vector<std::uint8_t> zlib_stream(std::span<const std::uint8_t> plain,
                                                    int level = 6, int strategy = 0,
                                                    int window_bits = 15);

/// The file of some parts.
[[nodiscard]] byte_vector join_png(const png_parts& parts);

/// Draws an image of some colour type and depth: any sample values, any filters.
/// @param largest_side Sides are 1 to this long.
[[nodiscard]] png_parts draw_png(std::mt19937& random, std::uint32_t largest_side);

}  // namespace feedline::test
