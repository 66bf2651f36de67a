#pragma once

#include "detail/rounded.hpp"

#include <cstdint>

namespace feedline::detail {

/// A pixel's channels, or three adjacent ones of them. Bytes are 0 to 255.
struct color {
  float of[3];
};

/// Luma of ITU-R BT.601, with torchvision's rounded weights.
/// @param channels 1: the pixel is grey; 3: red, green, blue.
[[nodiscard]] FEEDLINE_HOST_DEVICE inline float grey_of(const color& pixel,
                                                        std::uint32_t channels) noexcept {
  if (channels == 1) return pixel.of[0];
  return sum(sum(product(0.2989F, pixel.of[0]), product(0.587F, pixel.of[1])),
             product(0.114F, pixel.of[2]));
}

/// Position of a color in the batch's image.
struct pixel_place {
  std::uint32_t y;
  std::uint32_t x;
  std::uint32_t first;  ///< the color's first channel; above 0 only in images of 4 or more channels
};

/// Size of the batch's image, in pixels.
struct pixel_extents {
  std::uint32_t height;
  std::uint32_t width;
};

}  // namespace feedline::detail
