#pragma once

#include <feedline/dataset/encoded_blocks.hpp>

#include "image/geometry.hpp"
#include "image/jpeg/pixels.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace feedline::detail {

/// Images that are decoded at once: as many as a group of blocks has.
inline constexpr std::size_t max_jpeg_batch = 256;
/// Images that one kernel is given: a kernel's parameters have 4 KB.
inline constexpr std::size_t max_given_images = 64;
/// The largest image that the GPU decodes, in pixels.
inline constexpr std::uint64_t max_jpeg_pixels = std::uint64_t{4096} * 4096;

/// A file on the GPU, and the row that it becomes.
struct jpeg_image {
  const unsigned char* file = nullptr;  ///< a multiple of 16
  std::uint32_t bytes = 0;
  std::uint32_t number = 0;  ///< of its load
  std::byte* row = nullptr;
  std::uint64_t pixels_at = 0;  ///< its pixels, in the decoder's memory
  std::uint64_t taps_at = 0;    ///< and the taps by which they are resized
  image_extents extents;
};

/// Whether an image may be of this size, and can be made such a row.
[[nodiscard]] FEEDLINE_HOST_DEVICE constexpr bool is_jpeg_decoded(const image_row& row,
                                                                  image_extents extents) noexcept {
  return extents.pixels() != 0 && extents.pixels() <= max_jpeg_pixels &&
         resized_extents(extents, {row.height, row.width}, row.shorter_side).pixels() != 0;
}

/// Why no image is made such a row; empty if it is.
[[nodiscard]] constexpr const char* refusal_of_row(const image_row& row) noexcept {
  constexpr std::uint32_t longest_side = 65535;
  if (row.height == 0 || row.width == 0) return "JPEG of rows without pixels";
  if (row.height > longest_side || row.width > longest_side || row.shorter_side > longest_side)
    return "JPEG of rows with a side above 65535";
  if (row.shorter_side != 0 && (row.shorter_side < row.height || row.shorter_side < row.width))
    return "JPEG resized to less than its row";
  if (row.layout != image_layout::hwc && row.layout != image_layout::chw)
    return "JPEG of an unknown layout";
  return "";
}

/// Memory that a decoder works in where a call decodes so many images: enough for a batch of usual
/// ones, and for the largest.
/// @param row What images become.
[[nodiscard]] std::size_t jpeg_memory_bytes(std::size_t max_images, const image_row& row) noexcept;

/// Gives as many of the first images as make a batch their places in a decoder's memory.
/// @param images Not empty; each passes `is_jpeg_decoded`.
/// @param bytes  As `jpeg_memory_bytes` for this row.
/// @return How many: at least 1.
[[nodiscard]] std::size_t place_jpeg_batch(std::span<jpeg_image> images, std::size_t bytes,
                                           const image_row& row) noexcept;

/// The taps by which an image is resized: how many pairs of weights its records have, and behind
/// that the records of its rows and of its columns.
struct jpeg_taps {
  std::uint32_t row_pairs;
  std::uint32_t column_pairs;
};

// Where the kernels that decode find an image's memory, which begins with what they say of it to
// each other: pixels, behind them blocks, and behind these taps.

/// Bytes before an image's pixels.
inline constexpr std::size_t jpeg_header_bytes = 512;

/// The blocks that a file of three components can have at most: at 4:4:4, of a whole number of MCUs
/// at any sampling.
[[nodiscard]] FEEDLINE_HOST_DEVICE constexpr std::uint64_t max_jpeg_blocks(
    image_extents extents) noexcept {
  const auto mcus = [](std::uint32_t side) { return (std::uint64_t{side} + 15) / 16; };
  return std::uint64_t{12} * mcus(extents.height) * mcus(extents.width);
}

/// Where behind its pixels' begin an image's blocks begin.
[[nodiscard]] FEEDLINE_HOST_DEVICE constexpr std::uint64_t jpeg_blocks_behind(
    image_extents extents) noexcept {
  const std::uint64_t pixel_bytes =
      std::uint64_t{3} * jpeg_row_bytes(extents.width) * extents.height;
  // Before there are pixels, the place is used for four bytes of each.
  const std::uint64_t four_bytes = 4 * extents.pixels();
  return ((four_bytes > pixel_bytes ? four_bytes : pixel_bytes) + 255) / 256 * 256;
}

}  // namespace feedline::detail
