#pragma once

#include "detail/host_device.hpp"
#include "image/resize/geometry.hpp"

#include <cstdint>

namespace feedline::detail {

/// A pixel's position.
struct pixel_position {
  std::uint32_t y;
  std::uint32_t x;
};

/// How a stored image is turned to be shown: EXIF's orientation, 1 to 8.
class image_turn {
 public:
  constexpr image_turn() noexcept = default;
  /// @param number EXIF's; 1 if it is not 1 to 8.
  FEEDLINE_HOST_DEVICE constexpr explicit image_turn(std::uint32_t number) noexcept
      : number_{number >= 1 && number <= 8 ? number : 1} {}

  [[nodiscard]] FEEDLINE_HOST_DEVICE constexpr std::uint32_t number() const noexcept {
    return number_;
  }
  [[nodiscard]] FEEDLINE_HOST_DEVICE constexpr bool is_upright() const noexcept {
    return number_ == 1;
  }

  /// Extents of the shown image. @param stored Extents of the stored one; or the other way round.
  [[nodiscard]] FEEDLINE_HOST_DEVICE constexpr image_extents turned(
      image_extents stored) const noexcept {
    if (transposes()) return {stored.width, stored.height};
    return stored;
  }

  /// The window of the stored image that becomes a window of the shown one.
  /// @param original Extents of the stored image.
  [[nodiscard]] FEEDLINE_HOST_DEVICE constexpr resample_window as_stored(
      const resample_window& shown, image_extents original) const noexcept {
    resample_window stored = shown;
    stored.resized = turned(shown.resized);
    const image_box part =
        as_stored(image_box{shown.top, shown.left, shown.extents}, stored.resized);
    stored.top = part.top;
    stored.left = part.left;
    stored.extents = part.extents;
    stored.mirrors_rows = mirrors_rows();
    stored.mirrors_columns = mirrors_columns();
    if (shown.source.extents.pixels() != 0) stored.source = as_stored(shown.source, original);
    return stored;
  }
  /// The part of a stored image that is shown as `shown`. @param all Extents of the stored image.
  [[nodiscard]] FEEDLINE_HOST_DEVICE constexpr image_box as_stored(
      const image_box& shown, image_extents all) const noexcept {
    image_box stored = transposed(shown);
    if (mirrors_rows()) stored.top = all.height - stored.extents.height - stored.top;
    if (mirrors_columns()) stored.left = all.width - stored.extents.width - stored.left;
    return stored;
  }
  /// The part of the shown image that shows `stored`. @param all Extents of the stored image.
  [[nodiscard]] FEEDLINE_HOST_DEVICE constexpr image_box as_shown(
      image_box stored, image_extents all) const noexcept {
    if (mirrors_rows()) stored.top = all.height - stored.extents.height - stored.top;
    if (mirrors_columns()) stored.left = all.width - stored.extents.width - stored.left;
    return transposed(stored);
  }
  /// The position at which a pixel is shown. @param all Extents of the stored image.
  [[nodiscard]] FEEDLINE_HOST_DEVICE constexpr pixel_position as_shown(
      pixel_position stored, image_extents all) const noexcept {
    if (mirrors_rows()) stored.y = all.height - 1 - stored.y;
    if (mirrors_columns()) stored.x = all.width - 1 - stored.x;
    if (transposes()) return {stored.x, stored.y};
    return stored;
  }

  /// Whether the stored image's first row is the last row that is shown; or column, if transposed.
  [[nodiscard]] FEEDLINE_HOST_DEVICE constexpr bool mirrors_rows() const noexcept {
    return number_ == 3 || number_ == 4 || number_ == 6 || number_ == 7;
  }
  [[nodiscard]] FEEDLINE_HOST_DEVICE constexpr bool mirrors_columns() const noexcept {
    return number_ == 2 || number_ == 3 || number_ == 7 || number_ == 8;
  }
  [[nodiscard]] FEEDLINE_HOST_DEVICE constexpr bool transposes() const noexcept {
    return number_ >= 5;
  }

 private:
  [[nodiscard]] FEEDLINE_HOST_DEVICE constexpr image_box transposed(
      const image_box& box) const noexcept {
    if (transposes()) return {box.left, box.top, turned(box.extents)};
    return box;
  }

  std::uint32_t number_ = 1;
};

}  // namespace feedline::detail
