#pragma once

#include <concepts>
#include <optional>

namespace feedline::detail {

/// a × b, or nothing if it does not fit.
template <std::unsigned_integral T>
[[nodiscard]] constexpr std::optional<T> checked_multiply(T a, T b) noexcept {
  T product{};
  if (__builtin_mul_overflow(a, b, &product)) return std::nullopt;
  return product;
}

/// The smallest multiple of `unit` that is at least `value`. `unit` is not 0.
template <std::unsigned_integral T>
[[nodiscard]] constexpr T round_up(T value, T unit) noexcept {
  return (value + unit - 1) / unit * unit;
}

/// a / b, rounded up. `b` is not 0.
template <std::unsigned_integral T>
[[nodiscard]] constexpr T divide_up(T a, T b) noexcept {
  return a / b + (a % b != 0 ? 1 : 0);
}

}  // namespace feedline::detail
