#pragma once

#include <feedline/dataset/encoded_blocks.hpp>

#include "image/geometry.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace feedline::detail {

/// Images that are decoded at once: as many as a group of blocks has.
inline constexpr std::size_t max_jpeg_batch = 256;
/// Images that one kernel resizes: a kernel's parameters have 4 KB.
inline constexpr std::size_t max_resized_images = 64;
/// The largest image that the GPU decodes, in pixels.
inline constexpr std::uint64_t max_jpeg_pixels = std::uint64_t{4096} * 4096;

/// A file on the GPU, and the row that it becomes.
struct jpeg_image {
  const unsigned char* file = nullptr;
  std::uint32_t bytes = 0;
  std::uint32_t number = 0;  ///< of its load
  std::byte* row = nullptr;
  std::uint64_t pixels_at = 0;  ///< its pixels, in the memory for them
  image_extents extents;
};

/// What one kernel resizes.
struct jpeg_batch {
  const std::uint8_t* pixels = nullptr;
  image_row row;
  std::uint32_t images = 0;
  jpeg_image image[max_resized_images];
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

/// Bytes of memory for decoded pixels where a call decodes so many images: enough for a batch of
/// usual ones, and for the largest.
[[nodiscard]] constexpr std::size_t jpeg_pixel_bytes(std::size_t max_images) noexcept {
  constexpr std::size_t usual = std::size_t{160} << 20;
  constexpr std::size_t largest = static_cast<std::size_t>(max_jpeg_pixels) * 3;
  return max_images <= usual / largest ? max_images * largest : usual;
}

/// Gives as many of the first images as make a batch their places among the pixels.
/// @param images Not empty; each passes `is_jpeg_decoded`.
/// @param pixel_bytes As `jpeg_pixel_bytes`.
/// @return How many: at least 1.
[[nodiscard]] std::size_t place_jpeg_batch(std::span<jpeg_image> images,
                                           std::size_t pixel_bytes) noexcept;

}  // namespace feedline::detail
