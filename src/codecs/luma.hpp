#pragma once

#include "detail/host_device.hpp"

#include <cstdint>

namespace feedline::detail {

/// Pillow's and libjpeg's luma, of values of up to 16 bits. The factors add up to 2^16.
[[nodiscard]] FEEDLINE_HOST_DEVICE constexpr std::uint32_t luma_of(std::uint32_t red,
                                                                   std::uint32_t green,
                                                                   std::uint32_t blue) noexcept {
  return (red * 19595U + green * 38470U + blue * 7471U + 32768U) >> 16U;
}

}  // namespace feedline::detail
