#pragma once

#include <cmath>
#include <cstdint>

namespace feedline::test {

/// A 16-bit floating-point format, computed slowly from its definition, to check the library's bit
/// tricks.
struct slow_half {
  int exponent_bits = 5;
  int fraction_bits = 10;

  /// The pattern of +infinity: all exponent bits.
  [[nodiscard]] std::uint32_t infinity() const {
    return ((1U << exponent_bits) - 1U) << fraction_bits;
  }
  [[nodiscard]] bool is_nan(std::uint32_t pattern) const {
    return (pattern & 0x7FFFU) > infinity();
  }

  /// The number of a pattern without its sign. Infinity's is what would follow the largest number.
  [[nodiscard]] double magnitude(std::uint32_t pattern) const {
    const int bias = (1 << (exponent_bits - 1)) - 1;
    const auto exponent = static_cast<int>((pattern & 0x7FFFU) >> fraction_bits);
    const std::uint32_t fraction = pattern & ((1U << fraction_bits) - 1U);
    if (exponent == 0) return std::ldexp(fraction, 1 - bias - fraction_bits);
    return std::ldexp((1U << fraction_bits) + fraction, exponent - bias - fraction_bits);
  }

  [[nodiscard]] double value(std::uint32_t pattern) const {
    const double number = (pattern & 0x7FFFU) == infinity() ? HUGE_VAL : magnitude(pattern);
    if (is_nan(pattern)) return std::nan("");
    return (pattern & 0x8000U) != 0 ? -number : number;
  }

  /// The pattern nearest to a number of at most 24 bits, the even one of two; 0x7FFF for a NaN.
  [[nodiscard]] std::uint16_t nearest(double number) const {
    if (std::isnan(number)) return 0x7FFF;
    const double absolute = std::abs(number);
    std::uint32_t low = 0;  // not above the number, but where it is beyond all
    for (std::uint32_t high = infinity(); low < high;) {
      const std::uint32_t middle = (low + high + 1) / 2;
      if (magnitude(middle) <= absolute) {
        low = middle;
      } else {
        high = middle - 1;
      }
    }
    if (low < infinity()) {
      const double halfway = (magnitude(low) + magnitude(low + 1)) / 2;
      if (absolute > halfway || (absolute == halfway && low % 2 == 1)) ++low;
    }
    return static_cast<std::uint16_t>(low | (std::signbit(number) ? 0x8000U : 0U));
  }
};

inline constexpr slow_half slow_f16{5, 10};
inline constexpr slow_half slow_bf16{8, 7};

}  // namespace feedline::test
