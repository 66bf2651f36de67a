#pragma once

#include <feedline/backend/augmentation.hpp>

#include "device/rounded.hpp"

#include <cmath>
#include <cstdint>

namespace feedline::detail {

/// A pixel's channels, or its first ones: 0 to 255.
struct color {
  float of[3];
};

/// A sample's color draws.
struct color_factors {
  float brightness = 1.0F;
  float contrast = 1.0F;
  float saturation = 1.0F;
  float hue = 0.0F;
};

/// The value times its factor plus the other times 1 - factor, clamped to 0 … 255.
[[nodiscard]] FEEDLINE_HOST_DEVICE inline float blended(float value, float other,
                                                        float factor) noexcept {
  const float mixed = sum(product(factor, value), product(sum(1.0F, -factor), other));
  return mixed < 0.0F ? 0.0F : mixed > 255.0F ? 255.0F : mixed;
}

/// Luma of ITU-R BT.601, with torchvision's rounded weights.
[[nodiscard]] FEEDLINE_HOST_DEVICE inline float grey_of(const color& pixel,
                                                        std::uint32_t channels) noexcept {
  if (channels == 1) return pixel.of[0];
  return sum(sum(product(0.2989F, pixel.of[0]), product(0.587F, pixel.of[1])),
             product(0.114F, pixel.of[2]));
}

FEEDLINE_HOST_DEVICE inline void blend_all(color& pixel, float other, float factor,
                                           std::uint32_t channels) noexcept {
  for (std::uint32_t c = 0; c < 3; ++c)
    if (c < channels) pixel.of[c] = blended(pixel.of[c], other, factor);
}

/// A pixel's share of its image's mean grey, which is the center of contrast: an integer, in units
/// of 1/256, so that the sum is exact in any order.
[[nodiscard]] FEEDLINE_HOST_DEVICE inline std::uint32_t grey_share(
    color pixel, const color_factors& by, std::uint32_t channels) noexcept {
  blend_all(pixel, 0.0F, by.brightness, channels);
  return static_cast<std::uint32_t>(sum(product(grey_of(pixel, channels), 256.0F), 0.5F));
}
/// @param shares Sum over all pixels.
[[nodiscard]] FEEDLINE_HOST_DEVICE inline float mean_grey(std::uint64_t shares,
                                                          std::uint32_t pixels) noexcept {
  return quotient(static_cast<float>(shares), product(256.0F, static_cast<float>(pixels)));
}

/// Rotates a pixel's hue by a fraction of a circle, -1/2 to 1/2, by way of hue, saturation and
/// value (A. R. Smith, "Color gamut transform pairs", SIGGRAPH 1978).
FEEDLINE_HOST_DEVICE inline void turn_hue(color& pixel, float by) noexcept {
  const float r = pixel.of[0];
  const float g = pixel.of[1];
  const float b = pixel.of[2];
  const float most = r > g ? (r > b ? r : b) : (g > b ? g : b);
  const float least = r < g ? (r < b ? r : b) : (g < b ? g : b);
  const float spread = sum(most, -least);
  if (spread == 0.0F) return;  // grey has no hue
  const auto between = [&](float from, float to) { return quotient(sum(to, -from), spread); };
  // In sixths of a circle: 0 red, 2 green, 4 blue.
  float sixths = most == r   ? between(b, g)
                 : most == g ? sum(2.0F, between(r, b))
                             : sum(4.0F, between(g, r));
  sixths = sum(sixths, product(by, 6.0F));
  if (sixths < 0.0F) sixths = sum(sixths, 6.0F);
  if (sixths >= 6.0F) sixths = sum(sixths, -6.0F);
  const float whole = floorf(sixths);
  const float rest = sum(sixths, -whole);
  const float falling = sum(most, -product(spread, rest));
  const float rising = sum(least, product(spread, rest));
  switch (static_cast<std::uint32_t>(whole) % 6) {
    case 0:
      pixel = {{most, rising, least}};
      return;
    case 1:
      pixel = {{falling, most, least}};
      return;
    case 2:
      pixel = {{least, most, rising}};
      return;
    case 3:
      pixel = {{least, falling, most}};
      return;
    case 4:
      pixel = {{rising, least, most}};
      return;
    default:
      pixel = {{most, least, falling}};
  }
}

/// @param mean Mean grey of the image; used only if contrast is drawn.
FEEDLINE_HOST_DEVICE inline void jitter(color& pixel, const color_factors& by, float mean,
                                        std::uint32_t channels) noexcept {
  blend_all(pixel, 0.0F, by.brightness, channels);
  blend_all(pixel, mean, by.contrast, channels);
  if (channels == 1) return;
  blend_all(pixel, grey_of(pixel, channels), by.saturation, channels);
  if (by.hue != 0.0F) turn_hue(pixel, by.hue);
}

}  // namespace feedline::detail
