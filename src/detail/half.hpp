#pragma once

#include <bit>
#include <cstdint>

namespace feedline::detail {

// Conversions between binary32 and the two 16-bit formats, as bits: round to nearest even,
// subnormals kept, too large values become infinite. A NaN becomes the one that CUDA's conversions
// give. Masks instead of branches and selects, so that compilers vectorize loops of these.

/// The only NaN that the conversions to 16 bits give.
inline constexpr std::uint16_t half_nan = 0x7FFF;

/// All ones if a < b, else 0. Both are magnitudes: not negative.
[[nodiscard]] constexpr std::uint32_t mask_if_less(std::uint32_t a, std::uint32_t b) noexcept {
  return static_cast<std::uint32_t>(static_cast<std::int32_t>(a - b) >> 31);
}

[[nodiscard]] constexpr std::uint32_t choose(std::uint32_t mask, std::uint32_t if_ones,
                                             std::uint32_t if_zeros) noexcept {
  return (mask & if_ones) | (~mask & if_zeros);
}

/// binary32 to binary16.
[[nodiscard]] constexpr std::uint16_t to_f16(float value) noexcept {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const auto sign = (bits >> 16) & 0x8000U;
  const auto magnitude = bits & 0x7FFF'FFFFU;

  // Rebias the exponent by 15 - 127, then round away 13 bits; a carry out of the fraction is right.
  const auto odd = (magnitude >> 13) & 1U;
  const auto normal = (magnitude - (112U << 23) + 0xFFFU + odd) >> 13;
  // Below 2^-14: beside 0.5, a float's last bit is worth 2^-24, which is a subnormal's. The sum
  // rounds.
  const auto small = std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) + 0.5F) -
                     std::bit_cast<std::uint32_t>(0.5F);

  const auto finite = choose(mask_if_less(magnitude, 113U << 23), small, normal);
  const auto number = choose(mask_if_less(magnitude, 143U << 23), finite, 0x7C00U) | sign;
  const auto result = choose(mask_if_less(0x7F80'0000U, magnitude), half_nan, number);
  return static_cast<std::uint16_t>(result);
}

/// binary16 to binary32: exact; a NaN is made quiet and keeps its payload.
[[nodiscard]] constexpr float from_f16(std::uint16_t half) noexcept {
  const auto sign = (half & 0x8000U) << 16;
  const auto magnitude = half & 0x7FFFU;
  const auto shifted = magnitude << 13;

  constexpr auto least_normal = 113U << 23;  // 2^-14
  const auto normal = shifted + (112U << 23);
  const auto small = std::bit_cast<std::uint32_t>(std::bit_cast<float>(shifted + least_normal) -
                                                  std::bit_cast<float>(least_normal));
  const auto quiet = mask_if_less(0x7C00U, magnitude) & 0x0040'0000U;
  const auto special = shifted | 0x7F80'0000U | quiet;

  const auto finite = choose(mask_if_less(magnitude, 0x0400U), small, normal);
  return std::bit_cast<float>(choose(mask_if_less(magnitude, 0x7C00U), finite, special) | sign);
}

/// binary32 to bfloat16.
[[nodiscard]] constexpr std::uint16_t to_bf16(float value) noexcept {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const auto odd = (bits >> 16) & 1U;
  const auto rounded = (bits + 0x7FFFU + odd) >> 16;
  const auto is_nan = mask_if_less(0x7F80'0000U, bits & 0x7FFF'FFFFU);
  return static_cast<std::uint16_t>(choose(is_nan, half_nan, rounded));
}

/// bfloat16 to binary32: exact.
[[nodiscard]] constexpr float from_bf16(std::uint16_t half) noexcept {
  return std::bit_cast<float>(static_cast<std::uint32_t>(half) << 16);
}

}  // namespace feedline::detail
