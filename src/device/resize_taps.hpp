#pragma once

#include "detail/image_side.hpp"
#include "detail/rounded.hpp"
#include "transform/operations/pixel.hpp"

#include <algorithm>
#include <cstdint>

namespace feedline::detail {

/// The elements of an axis that contribute to one element of the resized axis, with their weights.
///
/// A triangle as wide as two resized elements (two source elements if the image is enlarged) lies
/// over the source, as in `resample_axis`. Here weights are integers, which a float holds exactly.
/// The distance of element t of `from` from resized element i is |(2t + 1) to - (2i + 1) from| / 2
/// to, and the triangle reaches max(from, to) / to; both are multiplied by 2 to.
struct resize_taps {
  std::uint32_t first;
  std::uint32_t count;    ///< at least 1; all weights are above 0
  std::int32_t distance;  ///< distance of the first element
  std::int32_t step;      ///< from one distance to the next
  std::int32_t reach;
  float total;  ///< sum of all weights, rounded

  [[nodiscard]] FEEDLINE_HOST_DEVICE float weight(std::uint32_t tap) const noexcept {
    const std::int32_t from_centre = distance + static_cast<std::int32_t>(tap) * step;
    return static_cast<float>(reach - (from_centre < 0 ? -from_centre : from_centre));
  }
};

/// @param i Below `to`. @param from, to 1 to `max_image_side`, so that weights are below 2^17.
[[nodiscard]] FEEDLINE_HOST_DEVICE inline resize_taps taps_of(std::uint32_t i, std::uint32_t from,
                                                              std::uint32_t to) noexcept {
  const std::int64_t step = std::int64_t{2} * to;
  const std::int64_t centre = (std::int64_t{2} * i + 1) * from;
  const std::int64_t reach = std::int64_t{2} * (from > to ? from : to);
  const std::int64_t before = centre - reach - to;  // the element before the first that counts
  const std::int64_t first = before < 0 ? 0 : before / step + 1;
  const std::int64_t behind = (centre + reach - to + step - 1) / step;
  const std::int64_t end = behind < from ? behind : from;

  resize_taps taps{};
  taps.first = static_cast<std::uint32_t>(first);
  taps.count = static_cast<std::uint32_t>(end - first);
  taps.distance = static_cast<std::int32_t>((2 * first + 1) * to - centre);
  taps.step = static_cast<std::int32_t>(step);
  taps.reach = static_cast<std::int32_t>(reach);
  std::int64_t total = 0;
  for (std::int64_t distance = taps.distance, tap = first; tap < end; ++tap, distance += step)
    total += reach - (distance < 0 ? -distance : distance);
  taps.total = static_cast<float>(total);
  return taps;
}

/// A pixel's values of up to three channels. Each is a sum along each line in order of columns,
/// divided by the weights' total, and then the same over the lines. Kernels compute it so; the host
/// computes each line once.
/// @param load Returns the window's element at (y, x) of a channel.
template <class Load>
[[nodiscard]] FEEDLINE_HOST_DEVICE color resized_color(const resize_taps& rows,
                                                       const resize_taps& columns,
                                                       std::uint32_t channels,
                                                       const Load& load) noexcept {
  color of_rows{};
  for (std::uint32_t row = 0; row < rows.count; ++row) {
    color of_columns{};
    for (std::uint32_t column = 0; column < columns.count; ++column) {
      const float weight = columns.weight(column);
      for (std::uint32_t c = 0; c < 3; ++c)
        if (c < channels)
          of_columns.of[c] = sum(
              of_columns.of[c], product(weight, load(rows.first + row, columns.first + column, c)));
    }
    const float weight = rows.weight(row);
    for (std::uint32_t c = 0; c < 3; ++c)
      if (c < channels)
        of_rows.of[c] =
            sum(of_rows.of[c], product(weight, quotient(of_columns.of[c], columns.total)));
  }
  for (std::uint32_t c = 0; c < 3; ++c)
    if (c < channels) of_rows.of[c] = quotient(of_rows.of[c], rows.total);
  return of_rows;
}

}  // namespace feedline::detail
