#pragma once

#include "detail/rounded.hpp"

#include <cmath>
#include <cstdint>

namespace feedline::detail {

/// Natural logarithm, with an error of a few ulps. @param x 2^-100 to 2^100.
[[nodiscard]] FEEDLINE_HOST_DEVICE inline float logarithm(float x) noexcept {
  float exponent = 0.0F;
  FEEDLINE_SHORT_LOOP
  for (; x < 0.70710678F; exponent = sum(exponent, -1.0F)) x = product(x, 2.0F);
  FEEDLINE_SHORT_LOOP
  for (; x > 1.41421356F; exponent = sum(exponent, 1.0F)) x = product(x, 0.5F);
  // 2 artanh z, by its series.
  const float z = quotient(sum(x, -1.0F), sum(x, 1.0F));
  const float square = product(z, z);
  constexpr float terms[] = {1.0F / 7, 1.0F / 5, 1.0F / 3, 1.0F};
  float series = 1.0F / 9;
  for (const float term : terms) series = sum(product(series, square), term);
  return sum(product(exponent, 0.69314718F), product(product(2.0F, z), series));
}

/// A normally distributed number, of mean 0 and deviation 1, for a draw of 32 bits: the inverse of
/// the distribution's integral, by PPND7 (M. J. Wichura, "Algorithm AS 241", Applied Statistics
/// 37(3), 1988).
[[nodiscard]] FEEDLINE_HOST_DEVICE inline float normal(std::uint32_t bits) noexcept {
  const auto ratio = [](const float(&above)[4], const float(&below)[4], float at) {
    float numerator = 0.0F;
    float denominator = 0.0F;
    for (std::uint32_t i = 0; i < 4; ++i) {
      numerator = sum(product(numerator, at), above[i]);
      denominator = sum(product(denominator, at), below[i]);
    }
    return quotient(numerator, denominator);
  };
  // In the middle of one of 2^24 equal parts of 0 to 1, measured from the nearer end.
  const bool is_upper = (bits >> 31) != 0;
  const std::uint32_t part = (is_upper ? ~bits : bits) >> 8;
  const float share = product(sum(static_cast<float>(part), 0.5F), 0x1p-24F);  // up to 0.5
  float value = 0.0F;
  const float from_middle = sum(0.5F, -share);
  if (from_middle <= 0.425F) {
    constexpr float above[] = {59.109374720F, 159.29113202F, 50.434271938F, 3.3871327179F};
    constexpr float below[] = {67.187563600F, 78.757757664F, 17.895169469F, 1.0F};
    value = product(from_middle,
                    ratio(above, below, sum(0.180625F, -product(from_middle, from_middle))));
  } else {
    const float tail = square_root(-logarithm(share));  // at most 4.16
    constexpr float above[] = {0.17023821103F, 1.3067284816F, 2.7568153900F, 1.4234372777F};
    constexpr float below[] = {0.0F, 0.12021132975F, 0.73700164250F, 1.0F};
    value = ratio(above, below, sum(tail, -1.6F));
  }
  return is_upper ? value : -value;
}

}  // namespace feedline::detail
