#pragma once

#include <feedline/dataset/image_layout.hpp>

#include "image/resize/geometry.hpp"
#include "image/resize/pixel_image.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace feedline::detail {

/// How an image is turned to be shown: EXIF's orientation, 1 to 8.
class orientation {
 public:
  /// Reads it from a JPEG, PNG, WebP or TIFF file. A file that has none, or not a valid one, is
  /// shown as it is stored.
  [[nodiscard]] static orientation of(std::span<const std::byte> file) noexcept;

  constexpr orientation() noexcept = default;
  /// @param number EXIF's; 1 if it is not 1 to 8.
  constexpr explicit orientation(std::uint32_t number) noexcept
      : number_{number >= 1 && number <= 8 ? number : 1} {}

  [[nodiscard]] constexpr std::uint32_t number() const noexcept { return number_; }
  [[nodiscard]] constexpr bool is_upright() const noexcept { return number_ == 1; }

  /// Extents of the shown image. @param stored Extents of the stored one; or the other way round.
  [[nodiscard]] constexpr image_extents turned(image_extents stored) const noexcept {
    if (transposes()) return {stored.width, stored.height};
    return stored;
  }
  /// The window of the stored image that becomes a window of the shown one.
  /// @param original Extents of the stored image.
  [[nodiscard]] resample_window as_stored(const resample_window& shown,
                                          image_extents original) const noexcept;
  /// Turns pixels. @param from Pixels of a stored image, row after row.
  /// @param to The same pixels as they are shown.
  void turn(std::span<const std::byte> from, image_extents stored, pixel_format format,
            image_layout layout, std::span<std::byte> to) const noexcept;

 private:
  [[nodiscard]] constexpr bool transposes() const noexcept { return number_ >= 5; }
  /// Whether the stored image's first row is the last row that is shown; or column, if transposed.
  [[nodiscard]] constexpr bool mirrors_rows() const noexcept {
    return number_ == 3 || number_ == 4 || number_ == 6 || number_ == 7;
  }
  [[nodiscard]] constexpr bool mirrors_columns() const noexcept {
    return number_ == 2 || number_ == 3 || number_ == 7 || number_ == 8;
  }

  std::uint32_t number_ = 1;
};

}  // namespace feedline::detail
