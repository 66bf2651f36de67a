#pragma once

#include "transform/operations/pixel.hpp"

#include <cmath>
#include <cstdint>

namespace feedline::detail {

/// The nearest whole number.
[[nodiscard]] FEEDLINE_HOST_DEVICE inline float rounded(float value) noexcept {
  return floorf(sum(value, 0.5F));
}

/// The nearest byte. @param value 0 to 255.
[[nodiscard]] FEEDLINE_HOST_DEVICE inline std::uint32_t byte_of(float value) noexcept {
  const auto byte = static_cast<std::uint32_t>(rounded(value));
  return byte < 255 ? byte : 255;
}

/// The value times its factor plus the other times 1 - factor, clamped to 0 … 255.
[[nodiscard]] FEEDLINE_HOST_DEVICE inline float blended(float value, float other,
                                                        float factor) noexcept {
  const float mixed = sum(product(factor, value), product(sum(1.0F, -factor), other));
  return mixed < 0.0F ? 0.0F : mixed > 255.0F ? 255.0F : mixed;
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

}  // namespace feedline::detail
