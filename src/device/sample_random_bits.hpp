#pragma once

#include <feedline/backend/assembly.hpp>

#include "detail/host_device.hpp"
#include "transform/operations/draws.hpp"

#include <cstdint>

namespace feedline::detail {

/// Position of a sample's window in its padded image, and whether it is flipped.
struct image_window {
  std::uint32_t top;
  std::uint32_t left;
  bool flipped;
};

[[nodiscard]] FEEDLINE_HOST_DEVICE inline bool is_flipped(const row_conversion& conversion,
                                                          std::uint32_t random_bits) noexcept {
  return conversion.flip_below != 0 && draw(random_bits, choice::flip) < conversion.flip_below;
}

[[nodiscard]] FEEDLINE_HOST_DEVICE inline image_window window_of(
    const row_conversion& conversion, std::uint32_t random_bits) noexcept {
  const std::uint32_t rows = conversion.height + 2 * conversion.padding - conversion.to_height;
  const std::uint32_t columns = conversion.width + 2 * conversion.padding - conversion.to_width;
  const bool flipped = is_flipped(conversion, random_bits);
  if (!conversion.random_window) return {rows / 2, columns / 2, flipped};
  return {draw_below(random_bits, choice::crop_top, rows + 1),
          draw_below(random_bits, choice::crop_left, columns + 1), flipped};
}

}  // namespace feedline::detail
