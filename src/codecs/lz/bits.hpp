#pragma once

#include "detail/host_device.hpp"

#include <bit>
#include <cstddef>
#include <cstdint>

namespace feedline::detail {

/// Index of the highest bit that is set. @param bits Not 0.
[[nodiscard]] FEEDLINE_HOST_DEVICE inline std::uint32_t highest_bit(std::uint32_t bits) {
#if defined(__CUDA_ARCH__)
  return 31U - static_cast<std::uint32_t>(__clz(static_cast<int>(bits)));
#else
  return 31U - static_cast<std::uint32_t>(std::countl_zero(bits));
#endif
}

/// Index of the lowest bit that is set. @param bits Not 0.
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

/// The `count` highest bits, as a number. @param count 32 at most; 0 gives 0.
[[nodiscard]] FEEDLINE_HOST_DEVICE inline std::uint32_t top_bits(std::uint64_t bits,
                                                                 std::uint32_t count) {
  return static_cast<std::uint32_t>(bits >> 32U >> (32U - count));
}

/// Subtracts from a number the two lowest bytes of a word, each below 128.
[[nodiscard]] FEEDLINE_HOST_DEVICE inline std::int32_t without_low_bytes(std::int32_t number,
                                                                         std::uint32_t word) {
#if defined(__CUDA_ARCH__)
  return __dp4a(static_cast<int>(word), 0x0000FFFF, number);  // factors -1, -1, 0, 0
#else
  return number - static_cast<std::int32_t>((word & 0xFFU) + (word >> 8U & 0xFFU));
#endif
}

/// The lowest 32 bits of two words, shifted right by `bits` modulo 32.
[[nodiscard]] FEEDLINE_HOST_DEVICE inline std::uint32_t moved_down(std::uint32_t low,
                                                                   std::uint32_t high,
                                                                   std::uint32_t bits) {
#if defined(__CUDA_ARCH__)
  return __funnelshift_r(low, high, bits);
#else
  return static_cast<std::uint32_t>((std::uint64_t{high} << 32U | low) >> bits % 32U);
#endif
}

/// A number of `bytes` bytes, lowest first.
[[nodiscard]] FEEDLINE_HOST_DEVICE inline std::uint64_t little_endian(const std::byte* from,
                                                                      std::uint32_t bytes) {
  std::uint64_t value = 0;
  for (std::uint32_t i = bytes; i-- > 0;) value = value << 8U | static_cast<std::uint64_t>(from[i]);
  return value;
}

/// The same, highest first.
[[nodiscard]] FEEDLINE_HOST_DEVICE inline std::uint64_t big_endian(const std::byte* from,
                                                                   std::uint32_t bytes) {
  std::uint64_t value = 0;
  for (std::uint32_t i = 0; i < bytes; ++i)
    value = value << 8U | static_cast<std::uint64_t>(from[i]);
  return value;
}

}  // namespace feedline::detail
