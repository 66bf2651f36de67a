#pragma once

#include <feedline/dataset/encoded_blocks.hpp>

#include "codecs/jpeg/pixels.hpp"
#include "detail/image_side.hpp"
#include "image/resize/geometry.hpp"
#include "image/resize/image_turn.hpp"
#include "image/resize/packed_taps.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace feedline::detail {

/// Most images that are decoded at once: the number of blocks in a group.
inline constexpr std::size_t max_jpeg_batch = 1024;
/// Most images that one kernel is given: a kernel's parameters have 4 KB.
inline constexpr std::size_t max_given_images = 50;
/// The largest image that the GPU decodes, in pixels.
inline constexpr std::uint64_t max_jpeg_pixels = max_image_pixels;

/// A file on the GPU, and the row that is made from it.
struct jpeg_image {
  const unsigned char* file = nullptr;  ///< address is a multiple of 16
  std::uint32_t bytes = 0;
  std::uint32_t number = 0;  ///< index of its load
  std::byte* row = nullptr;
  std::uint64_t pixels_at = 0;  ///< offset of its pixels in the decoder's memory
  std::uint64_t taps_at = 0;    ///< offset of the taps with which it is resized
  image_extents extents;
  source_window window = {};  ///< the part that becomes its row; no height: as the row says
  image_in_row in_row = {};   ///< passes `is_jpeg_decoded`
  image_format format = image_format::jpeg;
  std::uint8_t pixel_bits = 0;   ///< the load's
  bool keeps_size = false;       ///< its window is copied to its row, and not resized
  bool is_grey = false;          ///< its pixels have one value
  bool is_mask = false;          ///< its values are stored indices
  bool is_wide = false;          ///< its pixels are made with 16 bits a value: those of a PNG
  std::uint8_t orientation = 1;  ///< the load's

  [[nodiscard]] FEEDLINE_HOST_DEVICE constexpr image_turn turn() const noexcept {
    return image_turn{orientation};
  }
};

/// The extents of the image within its row.
[[nodiscard]] FEEDLINE_HOST_DEVICE constexpr image_extents shown_extents(
    const image_row& row, const image_in_row& in_row) noexcept {
  if (in_row.height != 0) return {in_row.height, in_row.width};
  return row_extents(in_row, {row.height, row.width});
}

/// The part of a stored image that becomes such a row, once it is turned.
/// @param extents Extents of the stored image. @param window The load's; it and `in_row` pass
/// `is_jpeg_decoded`.
[[nodiscard]] FEEDLINE_HOST_DEVICE constexpr resample_window window_of(
    const image_row& row, image_extents extents, const source_window& window,
    const image_in_row& in_row, const image_turn& turn = {}) noexcept {
  const image_extents wanted = shown_extents(row, in_row);
  const image_extents shown = turn.turned(extents);
  resample_window made;
  if (window.height != 0) {
    made = resized_part(turn.as_shown(box_of(window), extents), wanted);
  } else if (in_row.height != 0) {
    made = resized_part({0, 0, shown}, wanted);
  } else {
    made = middle_window(resized_extents(shown, wanted, row.shorter_side), wanted);
    made.source = {0, 0, shown};
  }
  return turn.as_stored(made, extents);
}

/// The same for an image of a batch.
[[nodiscard]] FEEDLINE_HOST_DEVICE constexpr resample_window window_of(
    const image_row& row, const jpeg_image& image) noexcept {
  return window_of(row, image.extents, image.window, image.in_row, image.turn());
}

/// Extents of what is made of an image, before it is turned.
[[nodiscard]] FEEDLINE_HOST_DEVICE constexpr image_extents made_extents(
    const image_row& row, const jpeg_image& image) noexcept {
  return image.turn().turned(shown_extents(row, image.in_row));
}

/// Whether an image may have this size and window, and can be resized to such a row.
[[nodiscard]] FEEDLINE_HOST_DEVICE constexpr bool is_jpeg_decoded(
    const image_row& row, image_extents extents, const source_window& window = {},
    image_format format = image_format::jpeg, const image_in_row& in_row = {},
    const image_turn& turn = {}) noexcept {
  if (extents.pixels() == 0 || extents.pixels() > max_jpeg_pixels) return false;
  if (format == image_format::png && extents.pixels() > max_png_pixels) return false;
  if (row.is_mask && format != image_format::png) return false;
  if (!is_within(in_row, {row.height, row.width})) return false;
  if (window != source_window{}) return is_within(window, extents);
  if (in_row.height != 0) return true;
  return resized_extents(turn.turned(extents), shown_extents(row, in_row), row.shorter_side)
             .pixels() != 0;
}

/// The reason why no image can be resized to such a row; empty if images can.
[[nodiscard]] constexpr const char* refusal_of_row(const image_row& row) noexcept {
  if (row.height == 0 || row.width == 0) return "images of rows without pixels";
  if (!is_image_side(row.height) || !is_image_side(row.width) || row.shorter_side > max_image_side)
    return "images of rows with a side above 65535";
  if (row.shorter_side != 0 && (row.shorter_side < row.height || row.shorter_side < row.width))
    return "images resized to less than their row";
  if (row.layout != image_layout::hwc && row.layout != image_layout::chw)
    return "images of an unknown layout";
  if (row.interpolation > interpolation::nearest)
    return "images resized by an unknown interpolation";
  if (row.channels != 1 && row.channels != 3) return "images of neither one nor three channels";
  if (row.type != element_type::u8 && row.type != element_type::u16)
    return "images of values that are neither u8 nor u16";
  if (row.is_mask && (row.channels != 1 || row.type != element_type::u8 ||
                      row.interpolation != interpolation::nearest))
    return "masks whose values are blended, or are not one u8";
  return "";
}

/// Working memory of a decoder whose calls decode up to this many images: enough for a batch of
/// usual images, 256 at most, and for the largest image. If there are more than 512, which may be
/// PNGs, it is enough for all of them as PNGs of about 256 x 256 pixels in colour.
/// @param row Row to which images are resized.
[[nodiscard]] std::size_t jpeg_memory_bytes(std::size_t max_images, const image_row& row) noexcept;

/// Working memory of a decoder for files that are typically larger. One thread block decodes the
/// scan of such a file, which takes long, so tens of them should be decoded at once. At most a
/// share of the device's memory.
/// @param usual_bytes Typical size of a file; 0: unknown, and no memory is needed for it.
[[nodiscard]] std::size_t large_jpegs_bytes(std::size_t max_images, std::size_t usual_bytes,
                                            std::size_t device_bytes) noexcept;

/// Assigns memory of the decoder to the first images, as many as make a batch.
/// @param images Not empty; each passes `is_jpeg_decoded`.
/// @param bytes Size of the memory: at least what `jpeg_memory_bytes` returns for this row.
/// @return Number of images in the batch: at least 1.
[[nodiscard]] std::size_t place_jpeg_batch(std::span<jpeg_image> images, std::size_t bytes,
                                           const image_row& row) noexcept;

/// Header of the taps with which an image is resized: the number of pairs of weights in each
/// record. The records of its rows and then of its columns follow it.
struct jpeg_taps {
  std::uint32_t row_pairs;
  std::uint32_t column_pairs;
};

// The memory of an image, for the kernels that decode it: a header by which the kernels pass on
// what they found, then pixels, then blocks, then taps.

/// Bytes before an image's pixels.
inline constexpr std::size_t jpeg_header_bytes = 512;

/// The most blocks that a file can have: at 4:4:4, and a whole number of MCUs at any sampling.
[[nodiscard]] FEEDLINE_HOST_DEVICE constexpr std::uint64_t max_jpeg_blocks(
    image_extents extents) noexcept {
  const auto mcus = [](std::uint32_t side) { return (std::uint64_t{side} + 15) / 16; };
  return std::uint64_t{12} * mcus(extents.height) * mcus(extents.width);
}

/// Offset of a JPEG's blocks from the begin of its pixels.
[[nodiscard]] FEEDLINE_HOST_DEVICE constexpr std::uint64_t jpeg_blocks_behind(
    image_extents extents) noexcept {
  const std::uint64_t pixel_bytes =
      std::uint64_t{3} * jpeg_row_bytes(extents.width) * extents.height;
  // Before there are pixels, their memory is used for four bytes of each.
  const std::uint64_t four_bytes = 4 * extents.pixels();
  return ((four_bytes > pixel_bytes ? four_bytes : pixel_bytes) + 255) / 256 * 256;
}

// A PNG's pixels are followed by its filtered rows and its compressed data.

/// Offset of a PNG's filtered rows from the begin of its pixels: after the rows that resizing reads
/// besides.
[[nodiscard]] FEEDLINE_HOST_DEVICE constexpr std::uint64_t png_rows_behind(
    const jpeg_image& image) {
  const std::uint64_t rows = std::uint64_t{image.extents.height} + max_rows_beyond;
  const std::uint64_t pixel_bytes = image.is_wide ? 6 : 3;
  return (pixel_bytes * jpeg_row_bytes(image.extents.width) * rows + 255) / 256 * 256;
}
/// Most bits of a PNG's pixel, as its load says.
[[nodiscard]] FEEDLINE_HOST_DEVICE constexpr std::uint32_t max_png_pixel_bits(
    const jpeg_image& image) {
  return image.pixel_bits == 0 || image.pixel_bits > 64 ? 64 : image.pixel_bits;
}
/// Most bytes of a PNG's filtered rows.
[[nodiscard]] FEEDLINE_HOST_DEVICE constexpr std::uint64_t max_png_rows_bytes(
    const jpeg_image& image) {
  const std::uint64_t row_bits = std::uint64_t{image.extents.width} * max_png_pixel_bits(image);
  return (1 + (row_bits + 7) / 8) * image.extents.height;
}
/// Offset of a PNG's compressed data from the begin of its pixels.
[[nodiscard]] FEEDLINE_HOST_DEVICE constexpr std::uint64_t png_data_behind(
    const jpeg_image& image) {
  return png_rows_behind(image) + (max_png_rows_bytes(image) + 255) / 256 * 256;
}

}  // namespace feedline::detail
