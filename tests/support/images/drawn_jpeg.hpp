#pragma once

#include "support/images/image_bytes.hpp"

#include <cstdint>
#include <span>

namespace feedline::test {

/// Extents of a JPEG that are not drawn; 0 if they are.
struct drawn_extents {
  std::uint16_t height = 0;
  std::uint16_t width = 0;
  std::uint8_t components = 0;  ///< 1 or 3
};

/// Draws a baseline JPEG: sampling, factors, Huffman tables, restart markers, and coefficients up
/// to the largest that a file can hold, most of which no image has. The file is legal, so libjpeg
/// decodes it without a warning; what its pixels are depends on how it computes.
/// @param input Says what is drawn: its first four bytes seed a sequence of numbers, the others are
///   used before them. A fuzzer changes a file's parts by these, and four bytes alone are a whole
///   file.
[[nodiscard]] byte_vector draw_jpeg(std::span<const std::uint8_t> input,
                                    const drawn_extents& extents = {});

/// The file of a seed alone.
[[nodiscard]] byte_vector draw_jpeg(std::uint32_t seed, const drawn_extents& extents = {});

}  // namespace feedline::test
