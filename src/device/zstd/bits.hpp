#pragma once

#include "detail/host_device.hpp"

#include <bit>
#include <cstddef>
#include <cstdint>

namespace feedline::detail {

/// Place of the highest bit that is set. @param bits Not 0.
[[nodiscard]] FEEDLINE_HOST_DEVICE inline std::uint32_t highest_bit(std::uint32_t bits) {
#if defined(__CUDA_ARCH__)
  return 31U - static_cast<std::uint32_t>(__clz(static_cast<int>(bits)));
#else
  return 31U - static_cast<std::uint32_t>(std::countl_zero(bits));
#endif
}

/// Place of the lowest bit that is set. @param bits Not 0.
[[nodiscard]] FEEDLINE_HOST_DEVICE inline std::uint32_t lowest_bit(std::uint32_t bits) {
  return highest_bit(bits & (0U - bits));
}

[[nodiscard]] FEEDLINE_HOST_DEVICE inline std::uint32_t count_bits(std::uint32_t bits) {
#if defined(__CUDA_ARCH__)
  return static_cast<std::uint32_t>(__popc(bits));
#else
  return static_cast<std::uint32_t>(std::popcount(bits));
#endif
}

/// @param count 31 at most.
[[nodiscard]] FEEDLINE_HOST_DEVICE inline std::uint32_t low_bits(std::uint32_t bits,
                                                                 std::uint32_t count) {
  return bits & ((1U << count) - 1U);
}

/// The highest bits, as a number. @param count 32 at most; 0 gives 0.
[[nodiscard]] FEEDLINE_HOST_DEVICE inline std::uint32_t top_bits(std::uint64_t bits,
                                                                 std::uint32_t count) {
  return static_cast<std::uint32_t>(bits >> 32U >> (32U - count));
}

/// A number of so many bytes, the lowest first.
[[nodiscard]] FEEDLINE_HOST_DEVICE inline std::uint64_t little_endian(const std::byte* from,
                                                                      std::uint32_t bytes) {
  std::uint64_t value = 0;
  for (std::uint32_t i = bytes; i-- > 0;) value = value << 8U | static_cast<std::uint64_t>(from[i]);
  return value;
}

}  // namespace feedline::detail
