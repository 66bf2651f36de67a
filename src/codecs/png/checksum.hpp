#pragma once

#include "detail/host_device.hpp"

#include <cstdint>

namespace feedline::detail {

// The checksum of PNG's chunks: CRC-32, of polynomials over bits whose highest power is the lowest
// bit. A chunk's bytes are divided among threads: the checksum of bytes A and then B is that of A
// times x^(8 × bytes of B), and that of B, added (by xor).

/// x times a polynomial.
[[nodiscard]] FEEDLINE_HOST_DEVICE constexpr std::uint32_t crc_shifted(std::uint32_t value) {
  return value >> 1U ^ ((0U - (value & 1U)) & 0xEDB88320U);
}

[[nodiscard]] FEEDLINE_HOST_DEVICE constexpr std::uint32_t crc_product(std::uint32_t a,
                                                                       std::uint32_t b) {
  std::uint32_t product = 0;
  for (; a != 0; a <<= 1U, b = crc_shifted(b))
    if (a >> 31U != 0) product ^= b;
  return product;
}

/// A polynomial times x^(8 × bytes).
[[nodiscard]] FEEDLINE_HOST_DEVICE constexpr std::uint32_t crc_moved(std::uint32_t value,
                                                                     std::uint32_t bytes) {
  for (std::uint32_t power = 1U << (31 - 8); bytes != 0; bytes >>= 1U) {
    if ((bytes & 1U) != 0) value = crc_product(power, value);
    power = crc_product(power, power);
  }
  return value;
}

/// The part of a checksum that one thread computes; all parts, added by xor, are the checksum
/// before it is inverted.
/// @param from Name and data of a chunk. @param number This thread's, among `threads`.
[[nodiscard]] FEEDLINE_HOST_DEVICE inline std::uint32_t crc_part(const std::uint8_t* from,
                                                                 std::uint32_t bytes,
                                                                 std::uint32_t number,
                                                                 std::uint32_t threads) {
  constexpr std::uint32_t least = 64;  // else moving parts takes longer than computing them
  std::uint32_t share = (bytes + threads - 1) / threads;
  if (share < least) share = least;
  const std::uint32_t begin = share * number;
  if (begin >= bytes) return 0;
  const std::uint32_t end = bytes - begin < share ? bytes : begin + share;
  std::uint32_t value = number == 0 ? 0xFFFFFFFFU : 0;
  for (std::uint32_t at = begin; at < end; ++at) {
    value ^= from[at];
    for (int bit = 0; bit < 8; ++bit) value = crc_shifted(value);
  }
  return crc_moved(value, bytes - end);
}

}  // namespace feedline::detail
