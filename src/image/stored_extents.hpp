#pragma once

#include "image/resize/geometry.hpp"

#include <cstddef>
#include <optional>
#include <span>

namespace feedline::detail {

/// Extents of an image, as its header has them. @param file Its first bytes at least; those of a
/// TIFF may be at its end.
/// @param follows_orientation Gives those of the image as EXIF turns it.
/// @return Nothing if the header is damaged, or there is none.
[[nodiscard]] std::optional<image_extents> stored_extents(std::span<const std::byte> file,
                                                          bool follows_orientation) noexcept;

}  // namespace feedline::detail
