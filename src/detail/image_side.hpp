#pragma once

#include "detail/host_device.hpp"

#include <cstdint>

namespace feedline::detail {

/// The largest height or width of an image, which is also JPEG's: devices get 16 bits of each.
inline constexpr std::uint32_t max_image_side = 65'535;

/// Whether an image can have this height or width. @tparam Number Holds `max_image_side`.
template <typename Number>
[[nodiscard]] FEEDLINE_HOST_DEVICE constexpr bool is_image_side(Number pixels) noexcept {
  return pixels >= Number{1} && pixels <= Number{max_image_side};
}

}  // namespace feedline::detail
