#pragma once

#include "device/sample_random_bits.hpp"

#include <cstdint>

namespace feedline::detail {

/// The part of a sample's image that is resized.
[[nodiscard]] FEEDLINE_HOST_DEVICE inline image_part source_window_of(
    const row_conversion& conversion, std::uint32_t random_bits) noexcept {
  const std::uint32_t height = conversion.height;
  const std::uint32_t width = conversion.width;
  if (!conversion.random_window) return {0, 0, height, width};
  image_part part;
  const part_draws draws{conversion.area, conversion.log_ratio, height, width,
                         static_cast<std::uint32_t>(choice::first_window)};
  if (draw_part(draws, height, width, random_bits, part)) return part;
  const std::uint32_t else_height = conversion.else_height;
  const std::uint32_t else_width = conversion.else_width;
  return {(height - else_height) / 2, (width - else_width) / 2, else_height, else_width};
}

}  // namespace feedline::detail
