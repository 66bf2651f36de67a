#pragma once

#include <feedline/export.hpp>

#include <cstdint>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// How a resized pixel is made from those of the source. Names are those of torchvision and Pillow.
enum class interpolation : std::uint8_t {
  /// Linear between two pixels. A smaller image is made from all pixels under a triangle two
  /// resized pixels wide, which torchvision calls antialiased.
  bilinear,
  /// Cubic (a = -0.5) between four pixels. A smaller image is made from all pixels under a curve
  /// four resized pixels wide: Pillow's `BICUBIC`, and torchvision's with antialiasing.
  bicubic,
  /// The pixel nearest to the middle of the resized one, without antialiasing: Pillow's `NEAREST`,
  /// and torchvision's `NEAREST_EXACT`. If two are as near, the right or lower one.
  nearest,
};

}  // namespace FEEDLINE_ABI
}  // namespace feedline
