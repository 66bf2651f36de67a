#pragma once

#include "detail/host_device.hpp"
#include "detail/packed_bytes.hpp"

#include <cstdint>

namespace feedline::detail {

/// Four pixels side by side: a word of each channel, whose byte 0 is the first pixel's.
struct four_pixels {
  static constexpr std::uint32_t count = 4;

  std::uint32_t channel[3];

  /// The same pixels in the reverse order.
  [[nodiscard]] FEEDLINE_HOST_DEVICE four_pixels mirrored() const noexcept {
    return {{choose_bytes(channel[0], 0, 0x0123), choose_bytes(channel[1], 0, 0x0123),
             choose_bytes(channel[2], 0, 0x0123)}};
  }
  /// The pixels one after the other, three bytes each.
  FEEDLINE_HOST_DEVICE void interleave(std::uint32_t (&words)[3]) const noexcept {
    const std::uint32_t first = choose_bytes(channel[0], channel[1], 0x5140);   // r0 g0 r1 g1
    const std::uint32_t second = choose_bytes(channel[0], channel[1], 0x7362);  // r2 g2 r3 g3
    words[0] = choose_bytes(first, channel[2], 0x2410);
    words[1] = choose_bytes(choose_bytes(first, channel[2], 0x0053), second, 0x5410);
    words[2] = choose_bytes(second, channel[2], 0x7326);
  }
};

}  // namespace feedline::detail
