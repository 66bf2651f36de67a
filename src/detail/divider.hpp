#pragma once

#include "detail/host_device.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>

namespace feedline::detail {

/// Divides by a number that is known on the host: on a GPU, a product and a shift in place of the
/// twenty instructions of a division.
///
/// Granlund and Montgomery: Division by invariant integers using multiplication, 1994. With l the
/// bits of d - 1 and m = ⌈2^(31+l) / d⌉, which fits in 32 bits, ⌊n m / 2^(31+l)⌋ = ⌊n / d⌋ for all
/// n < 2^31.
class divider {
 public:
  /// Dividends must be below this.
  static constexpr std::uint64_t limit = std::uint64_t{1} << 31;

  /// Divides by 1.
  constexpr divider() = default;
  /// @param divisor 1 to `limit`.
  constexpr explicit divider(std::uint32_t divisor) noexcept
      : divisor_{divisor}, shift_{31 + static_cast<std::uint32_t>(std::bit_width(divisor - 1))} {
    const std::uint64_t power = std::uint64_t{1} << shift_;
    multiplier_ = static_cast<std::uint32_t>((power + divisor - 1) / divisor);
  }

  [[nodiscard]] FEEDLINE_HOST_DEVICE constexpr std::uint32_t divisor() const noexcept {
    return divisor_;
  }
  [[nodiscard]] FEEDLINE_HOST_DEVICE constexpr std::uint32_t quotient(
      std::uint32_t value) const noexcept {
    return static_cast<std::uint32_t>(std::uint64_t{value} * multiplier_ >> shift_);
  }

 private:
  std::uint32_t divisor_ = 1;
  std::uint32_t multiplier_ = std::uint32_t{1} << 31;
  std::uint32_t shift_ = 31;
};

/// Divides numbers below `divider::limit`, whatever the divisor.
[[nodiscard]] inline divider divide_by(std::uint64_t divisor) {
  return divider{static_cast<std::uint32_t>(std::clamp<std::uint64_t>(divisor, 1, divider::limit))};
}

}  // namespace feedline::detail
