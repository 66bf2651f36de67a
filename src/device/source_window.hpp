#pragma once

#include <feedline/backend/augmentation.hpp>

#include "device/rounded.hpp"
#include "device/sample_random_bits.hpp"

#include <cmath>
#include <cstdint>

namespace feedline::detail {

/// Part of an image.
struct image_part {
  std::uint32_t top = 0;
  std::uint32_t left = 0;
  std::uint32_t height = 0;
  std::uint32_t width = 0;
};

/// A draw in a range. @param number Number of the draw among a sample's draws, at least 16.
[[nodiscard]] FEEDLINE_HOST_DEVICE inline float draw_in(const float_range& range,
                                                        std::uint32_t random_bits,
                                                        std::uint32_t number) noexcept {
  const float share = static_cast<float>(draw(random_bits, choice{number}) >> 8) * 0x1p-24F;
  return sum(range.low, product(share, sum(range.high, -range.low)));
}

/// Ranges from which the size of a part is drawn, and the numbers of the draws.
struct part_draws {
  float_range area;       ///< fraction of the image's area
  float_range log_ratio;  ///< binary logarithm of width over height
  std::uint32_t max_height;
  std::uint32_t max_width;
  std::uint32_t first_draw;  ///< number of the first draw; each try takes four
};

/// Draws a part of an image of height × width like torchvision's RandomResizedCrop and
/// RandomErasing: up to ten times, until it is neither empty nor too large. @return Whether a try
/// succeeded.
[[nodiscard]] FEEDLINE_HOST_DEVICE inline bool draw_part(const part_draws& from,
                                                         std::uint32_t height, std::uint32_t width,
                                                         std::uint32_t random_bits,
                                                         image_part& part) noexcept {
  const float pixels = product(static_cast<float>(height), static_cast<float>(width));
  for (std::uint32_t number = from.first_draw; number < from.first_draw + 40; number += 4) {
    const float area = product(pixels, draw_in(from.area, random_bits, number));
    const float ratio = power_of_two(draw_in(from.log_ratio, random_bits, number + 1));
    const float wide = floorf(sum(square_root(product(area, ratio)), 0.5F));
    const float high = floorf(sum(square_root(quotient(area, ratio)), 0.5F));
    if (!(wide >= 1 && wide <= static_cast<float>(from.max_width) && high >= 1 &&
          high <= static_cast<float>(from.max_height)))
      continue;
    part.height = static_cast<std::uint32_t>(high);
    part.width = static_cast<std::uint32_t>(wide);
    part.top = draw_below(random_bits, choice{number + 2}, height - part.height + 1);
    part.left = draw_below(random_bits, choice{number + 3}, width - part.width + 1);
    return true;
  }
  return false;
}

/// The numbers of draws begin here; lower numbers are those of `choice`.
inline constexpr std::uint32_t first_window_draw = 16;

/// The part of a sample's image that is resized.
[[nodiscard]] FEEDLINE_HOST_DEVICE inline image_part source_window_of(
    const field_conversion& conversion, std::uint32_t random_bits) noexcept {
  const image_augmentation& augmentation = conversion.augmentation;
  const std::uint32_t height = conversion.height;
  const std::uint32_t width = conversion.width;
  if (!augmentation.random_window) return {0, 0, height, width};
  image_part part;
  const part_draws draws{augmentation.area, augmentation.log_ratio, height, width,
                         first_window_draw};
  if (draw_part(draws, height, width, random_bits, part)) return part;
  const std::uint32_t else_height = augmentation.else_height;
  const std::uint32_t else_width = augmentation.else_width;
  return {(height - else_height) / 2, (width - else_width) / 2, else_height, else_width};
}

[[nodiscard]] FEEDLINE_HOST_DEVICE inline bool is_flipped(const field_conversion& conversion,
                                                          std::uint32_t random_bits) noexcept {
  return conversion.flip_below != 0 && draw(random_bits, choice::flip) < conversion.flip_below;
}

}  // namespace feedline::detail
