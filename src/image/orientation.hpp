#pragma once

#include <feedline/dataset/image_layout.hpp>

#include "image/resize/image_turn.hpp"
#include "image/resize/pixel_image.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace feedline::detail {

/// The turn that a file asks for, on hosts.
class orientation : public image_turn {
 public:
  /// Reads it from a JPEG, PNG, WebP or TIFF file. A file that has none, or not a valid one, is
  /// shown as it is stored.
  [[nodiscard]] static orientation of(std::span<const std::byte> file) noexcept;

  using image_turn::image_turn;

  /// Turns pixels. @param from Pixels of a stored image, row after row.
  /// @param to The same pixels as they are shown.
  void turn(std::span<const std::byte> from, image_extents stored, pixel_format format,
            image_layout layout, std::span<std::byte> to) const noexcept;
};

}  // namespace feedline::detail
