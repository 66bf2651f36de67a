#pragma once

#include <feedline/dataset/encoded_blocks.hpp>

#include "detail/host_device.hpp"

#include <cstdint>

namespace feedline::detail {

struct image_extents {
  std::uint32_t height = 0;
  std::uint32_t width = 0;

  [[nodiscard]] FEEDLINE_HOST_DEVICE constexpr std::uint64_t pixels() const noexcept {
    return std::uint64_t{height} * width;
  }
  friend bool operator==(const image_extents&, const image_extents&) = default;
};

/// A part of an image.
struct image_box {
  std::uint32_t top = 0;
  std::uint32_t left = 0;
  image_extents extents;

  friend bool operator==(const image_box&, const image_box&) = default;
};

/// A window of an image after its resize.
struct resample_window {
  image_extents resized;  ///< extents of the whole resized image
  std::uint32_t top = 0;
  std::uint32_t left = 0;
  image_extents extents;  ///< extents of the window, which is within `resized`
  /// The part of the image that is resized, as if there were nothing around it; no pixels: all.
  image_box source = {};
  /// Whether rows, or columns, are resized as if mirrored. This makes a difference where two pixels
  /// are equally near, and in rounding.
  bool mirrors_rows = false;
  bool mirrors_columns = false;
};

/// Extents of a whole image after its resize, before any cut; no pixels if they are too large, such
/// as 1 × 10 million pixels enlarged.
/// @param original No side is 0, or above 65,535. @param shorter_side 0: the result is exactly
///                 `wanted`.
[[nodiscard]] FEEDLINE_HOST_DEVICE constexpr image_extents resized_extents(
    image_extents original, image_extents wanted, std::uint32_t shorter_side) noexcept {
  if (shorter_side == 0) return wanted;
  const bool is_upright = original.width <= original.height;
  const std::uint64_t shorter = is_upright ? original.width : original.height;
  const std::uint64_t longer = is_upright ? original.height : original.width;
  const std::uint64_t other = longer * shorter_side / shorter;
  if (other > std::uint64_t{1} << 30) return {};
  image_extents extents{shorter_side, shorter_side};
  (is_upright ? extents.height : extents.width) = static_cast<std::uint32_t>(other);
  return extents;
}

/// Whether an image, or its part, is not made larger or smaller: its pixels stay what they are.
[[nodiscard]] FEEDLINE_HOST_DEVICE constexpr bool keeps_size(
    const resample_window& window) noexcept {
  return window.source.extents == window.resized;
}

/// Begin of a centered window that leaves `rest` pixels over. A half pixel is rounded to the even
/// side, as Python's round does.
[[nodiscard]] FEEDLINE_HOST_DEVICE constexpr std::uint32_t middle_of(std::uint32_t rest) noexcept {
  const std::uint32_t half = rest / 2;
  return half + (rest % 2 != 0 && half % 2 != 0 ? 1U : 0U);
}

/// The window that is cut out of a resized image. @param wanted No larger than `resized`.
[[nodiscard]] FEEDLINE_HOST_DEVICE constexpr resample_window middle_window(
    image_extents resized, image_extents wanted) noexcept {
  return {resized, middle_of(resized.height - wanted.height),
          middle_of(resized.width - wanted.width), wanted};
}

[[nodiscard]] FEEDLINE_HOST_DEVICE constexpr image_box box_of(
    const source_window& window) noexcept {
  return {window.top, window.left, {window.height, window.width}};
}
/// @param box Its sides are at most 65,535, as those of `image_geometry::source_of` are.
[[nodiscard]] FEEDLINE_HOST_DEVICE constexpr source_window window_at(
    const image_box& box) noexcept {
  return {static_cast<std::uint16_t>(box.top), static_cast<std::uint16_t>(box.left),
          static_cast<std::uint16_t>(box.extents.height),
          static_cast<std::uint16_t>(box.extents.width)};
}

/// Whether a window has pixels, and all of them are the image's.
[[nodiscard]] FEEDLINE_HOST_DEVICE constexpr bool is_within(const source_window& window,
                                                            image_extents image) noexcept {
  return window.height != 0 && window.width != 0 &&
         std::uint32_t{window.top} + window.height <= image.height &&
         std::uint32_t{window.left} + window.width <= image.width;
}

/// The extents of a row. @param largest Those of `image_row`.
[[nodiscard]] FEEDLINE_HOST_DEVICE constexpr image_extents row_extents(
    const image_in_row& in_row, image_extents largest) noexcept {
  if (in_row.row_height == 0) return largest;
  return {in_row.row_height, in_row.row_width};
}

/// Whether a row is not larger than the largest, and an image within it.
[[nodiscard]] FEEDLINE_HOST_DEVICE constexpr bool is_within(const image_in_row& in_row,
                                                            image_extents largest) noexcept {
  if ((in_row.row_height == 0) != (in_row.row_width == 0)) return false;
  if ((in_row.height == 0) != (in_row.width == 0)) return false;
  const image_extents row = row_extents(in_row, largest);
  return row.height <= largest.height && row.width <= largest.width &&
         std::uint32_t{in_row.top} + in_row.height <= row.height &&
         std::uint32_t{in_row.left} + in_row.width <= row.width;
}

/// A part of an image, resized without a cut. @param wanted Extents of the result.
[[nodiscard]] FEEDLINE_HOST_DEVICE constexpr resample_window resized_part(
    const image_box& part, image_extents wanted) noexcept {
  return {wanted, 0, 0, wanted, part};
}

}  // namespace feedline::detail
