#pragma once

#include "detail/host_device.hpp"

#include <cstdint>

namespace feedline::detail {

/// The elements of an axis that contribute to one element of the resized axis, with their weights.
///
/// A triangle as wide as two resized elements (two source elements if the image is enlarged) lies
/// over the source: PIL calls this bilinear, torchvision bilinear with antialiasing. All numbers
/// are integers, so weights are the same on every machine. The distance of source element k from
/// resized element i is |(2k + 1) to - (2i + 1) from| / 2 to, and the triangle reaches max(from,
/// to) / to; both are multiplied by 2 to.
class resample_taps {
 public:
  static constexpr int weight_bits = 14;  ///< weights sum up to 2^14 exactly

  /// @param from 1 to 65,535. @param to 1 to 2^30. @param i Below `to`.
  FEEDLINE_HOST_DEVICE constexpr resample_taps(std::uint32_t from, std::uint32_t to,
                                               std::uint32_t i) noexcept
      : count_{count_of(from, to)},
        step_{std::int64_t{2} * to},
        reach_{std::int64_t{2} * (from > to ? from : to)} {
    const std::int64_t centre = (std::int64_t{2} * i + 1) * from;
    const std::int64_t lowest = centre - reach_ + to;
    const std::int64_t first = lowest < 0 ? 0 : lowest / step_;
    const std::int64_t last_first = std::int64_t{from} - count_;
    first_ = static_cast<std::uint32_t>(first < last_first ? first : last_first);
    distance_ = (std::int64_t{2} * first_ + 1) * to - centre;
    begin_ = taps_before(1 - reach_);
    middle_ = taps_before(0);
    end_ = taps_before(reach_);
    total_ = sum_of(count_);
  }

  /// Number of taps of each element of an axis: the most centers of elements that can be under the
  /// triangle.
  [[nodiscard]] FEEDLINE_HOST_DEVICE static constexpr std::uint32_t count_of(
      std::uint32_t from, std::uint32_t to) noexcept {
    const std::uint64_t widest =
        (std::uint64_t{2} * (from > to ? from : to) + to - 1) / std::uint64_t{to};
    return widest < from ? static_cast<std::uint32_t>(widest) : from;
  }

  /// The first source element; `first() + count() <= from`.
  [[nodiscard]] FEEDLINE_HOST_DEVICE constexpr std::uint32_t first() const noexcept {
    return first_;
  }
  [[nodiscard]] FEEDLINE_HOST_DEVICE constexpr std::uint32_t count() const noexcept {
    return count_;
  }
  /// Weight of a tap, 0 to 2^14. @param tap Below `count()`.
  [[nodiscard]] FEEDLINE_HOST_DEVICE constexpr std::int16_t weight(
      std::uint32_t tap) const noexcept {
    return static_cast<std::int16_t>(weight_before(tap + 1) - weight_before(tap));
  }
  /// Sum of the weights of all taps before one. This sum, not each weight, is rounded, so that the
  /// weights add up.
  /// @param tap Up to `count()`.
  [[nodiscard]] FEEDLINE_HOST_DEVICE constexpr std::int32_t weight_before(
      std::uint32_t tap) const noexcept {
    return static_cast<std::int32_t>((sum_of(tap) * (std::int64_t{2} << weight_bits) + total_) /
                                     (2 * total_));
  }

 private:
  /// Number of taps before the first one at `distance` or farther right.
  [[nodiscard]] FEEDLINE_HOST_DEVICE constexpr std::int64_t taps_before(
      std::int64_t distance) const noexcept {
    return distance <= distance_ ? 0 : (distance - distance_ + step_ - 1) / step_;
  }
  /// Sum of the triangle's heights over the first taps: a rising and a falling series.
  [[nodiscard]] FEEDLINE_HOST_DEVICE constexpr std::int64_t sum_of(
      std::int64_t taps) const noexcept {
    const std::int64_t rising = (taps < middle_ ? taps : middle_) - begin_;
    const std::int64_t falling = (taps < end_ ? taps : end_) - middle_;
    std::int64_t sum = 0;
    if (rising > 0)
      sum += rising * (reach_ + distance_ + begin_ * step_) + rising * (rising - 1) / 2 * step_;
    if (falling > 0)
      sum += falling * (reach_ - distance_ - middle_ * step_) - falling * (falling - 1) / 2 * step_;
    return sum;
  }

  std::uint32_t count_;
  std::uint32_t first_ = 0;
  std::int64_t step_;
  std::int64_t reach_;
  std::int64_t distance_ = 0;  ///< distance of the first tap from the triangle's middle
  // Taps under the rising side: [begin_, middle_); under the falling side: [middle_, end_).
  std::int64_t begin_ = 0;
  std::int64_t middle_ = 0;
  std::int64_t end_ = 0;
  std::int64_t total_ = 0;
};

/// Between the axes a value is scaled by 2^6: with weights of 14 bits, sums then fit in 32 bits,
/// and the values in 16.
inline constexpr int line_bits = 6;
inline constexpr int row_shift = resample_taps::weight_bits - line_bits;
inline constexpr int column_shift = resample_taps::weight_bits + line_bits;
inline constexpr std::int32_t row_half = 1 << (row_shift - 1);
inline constexpr std::int32_t column_half = 1 << (column_shift - 1);

}  // namespace feedline::detail
