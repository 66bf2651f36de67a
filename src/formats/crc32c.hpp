#pragma once

#include "detail/checksums/crc32c.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace feedline::detail {

/// The checksum of TFRecord files: rotated, and a constant added.
[[nodiscard]] inline std::uint32_t masked_crc32c(std::span<const std::byte> bytes) noexcept {
  const std::uint32_t crc = crc32c(bytes);
  return (crc >> 15 | crc << 17) + 0xa282ead8U;
}

}  // namespace feedline::detail
