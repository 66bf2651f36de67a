#pragma once

#include "device/color.hpp"
#include "device/source_window.hpp"

#include <cstdint>

namespace feedline::detail {

// The numbers of draws: they follow the forty from `first_window_draw` on.
inline constexpr std::uint32_t erase_draw = 56;
inline constexpr std::uint32_t first_erased_draw = 60;
inline constexpr std::uint32_t first_color_draw = 100;

[[nodiscard]] FEEDLINE_HOST_DEVICE inline color_factors color_factors_of(
    const image_augmentation& augmentation, std::uint32_t random_bits) noexcept {
  return {draw_in(augmentation.brightness, random_bits, first_color_draw),
          draw_in(augmentation.contrast, random_bits, first_color_draw + 1),
          draw_in(augmentation.saturation, random_bits, first_color_draw + 2),
          draw_in(augmentation.hue, random_bits, first_color_draw + 3)};
}

/// The part of the batch's image that is erased; its height is 0 if nothing is. It is smaller than
/// the image, like torchvision's.
[[nodiscard]] FEEDLINE_HOST_DEVICE inline image_part erased_part_of(
    const field_conversion& conversion, std::uint32_t random_bits) noexcept {
  const image_augmentation& augmentation = conversion.augmentation;
  image_part part;
  if (augmentation.erase_below == 0 ||
      draw(random_bits, choice{erase_draw}) >= augmentation.erase_below)
    return part;
  const part_draws draws{augmentation.erase_area, augmentation.erase_log_ratio,
                         conversion.to_height - 1, conversion.to_width - 1, first_erased_draw};
  (void)draw_part(draws, conversion.to_height, conversion.to_width, random_bits, part);
  return part;
}

[[nodiscard]] FEEDLINE_HOST_DEVICE inline bool is_in_part(const image_part& part, std::uint32_t y,
                                                          std::uint32_t x) noexcept {
  return y - part.top < part.height && x - part.left < part.width;
}

[[nodiscard]] FEEDLINE_HOST_DEVICE inline float erase_value_of(
    const image_augmentation& augmentation, std::uint32_t channel) noexcept {
  return augmentation.erase_value[augmentation.erases_per_channel ? channel : 0];
}

}  // namespace feedline::detail
