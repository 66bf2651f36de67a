#pragma once

#include "detail/host_device.hpp"
#include "image/resize/resample_taps.hpp"

#include <cstdint>

namespace feedline::detail {

/// Like `resample_taps`, for `interpolation::bicubic`: the curve over the source is that of Keys
/// with a = -0.5, four resized elements wide (four source elements if the image is enlarged). Some
/// weights are negative.
///
/// A distance is divided by the curve's unit to 20 bits after the point, so weights are the same on
/// every machine. They are summed up one by one, because their sum has no short formula.
class cubic_taps {
 public:
  /// @param from, to, i Like those of `resample_taps`.
  FEEDLINE_HOST_DEVICE constexpr cubic_taps(std::uint32_t from, std::uint32_t to,
                                            std::uint32_t i) noexcept
      : count_{count_of(from, to)},
        step_{std::int64_t{2} * to},
        unit_{std::int64_t{2} * (from > to ? from : to)} {
    const std::int64_t centre = (std::int64_t{2} * i + 1) * from;
    const std::int64_t lowest = centre - 2 * unit_ + to;
    const std::int64_t first = lowest < 0 ? 0 : lowest / step_;
    const std::int64_t last_first = std::int64_t{from} - count_;
    first_ = static_cast<std::uint32_t>(first < last_first ? first : last_first);
    distance_ = (std::int64_t{2} * first_ + 1) * to - centre;
    for (std::uint32_t tap = 0; tap < count_; ++tap) total_ += height(tap);
  }

  [[nodiscard]] FEEDLINE_HOST_DEVICE static constexpr std::uint32_t count_of(
      std::uint32_t from, std::uint32_t to) noexcept {
    const std::uint64_t widest =
        (std::uint64_t{4} * (from > to ? from : to) + to - 1) / std::uint64_t{to};
    return widest < from ? static_cast<std::uint32_t>(widest) : from;
  }
  [[nodiscard]] FEEDLINE_HOST_DEVICE constexpr std::uint32_t first() const noexcept {
    return first_;
  }
  [[nodiscard]] FEEDLINE_HOST_DEVICE constexpr std::uint32_t count() const noexcept {
    return count_;
  }
  /// Sum of the weights of all taps before one, rounded, so that all weights add up to 2^14.
  /// @param tap Up to `count()`; no smaller than in the call before.
  [[nodiscard]] FEEDLINE_HOST_DEVICE constexpr std::int32_t weight_before(
      std::uint32_t tap) noexcept {
    for (; summed_ < tap; ++summed_) sum_ += height(summed_);
    // A multiple of the total keeps the quotient above 0, where division rounds down.
    constexpr std::int64_t shift = std::int64_t{1} << resample_taps::weight_bits;
    return static_cast<std::int32_t>((sum_ * 2 * shift + total_ * (2 * shift + 1)) / (2 * total_) -
                                     shift);
  }

 private:
  static constexpr int bits = 20;

  /// The curve at a tap, times 2^21.
  [[nodiscard]] FEEDLINE_HOST_DEVICE constexpr std::int64_t height(
      std::uint32_t tap) const noexcept {
    const std::int64_t from_middle = distance_ + tap * step_;
    const std::int64_t distance = from_middle < 0 ? -from_middle : from_middle;
    if (distance >= 2 * unit_) return 0;
    constexpr std::int64_t one = std::int64_t{1} << bits;
    const std::int64_t x = distance * one / unit_;
    const std::int64_t square = x * x >> bits;
    const std::int64_t cube = square * x >> bits;
    if (x < one) return 3 * cube - 5 * square + 2 * one;
    return 5 * square - cube - 8 * x + 4 * one;
  }

  std::uint32_t count_;
  std::uint32_t first_ = 0;
  std::int64_t step_;
  std::int64_t unit_;
  std::int64_t distance_ = 0;  ///< distance of the first tap from the curve's middle
  std::int64_t total_ = 0;
  std::uint32_t summed_ = 0;  ///< taps in `sum_`
  std::int64_t sum_ = 0;
};

}  // namespace feedline::detail
