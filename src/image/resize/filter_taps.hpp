#pragma once

#include <feedline/dataset/interpolation.hpp>

#include "detail/host_device.hpp"
#include "image/resize/cubic_taps.hpp"
#include "image/resize/nearest_taps.hpp"
#include "image/resize/resample_taps.hpp"

#include <cstdint>

namespace feedline::detail {

/// Calls `use` with the taps of one element of a resized axis, and returns its result. Their
/// `weight_before` must be called with taps in ascending order.
/// @param from, to, i Like those of `resample_taps`.
template <class Use>
FEEDLINE_HOST_DEVICE constexpr auto with_taps(interpolation filter, std::uint32_t from,
                                              std::uint32_t to, std::uint32_t i, const Use& use) {
  if (filter == interpolation::bicubic) return use(cubic_taps{from, to, i});
  if (filter == interpolation::nearest) return use(nearest_taps{from, to, i});
  return use(resample_taps{from, to, i});
}

/// Number of taps of each element of an axis.
[[nodiscard]] FEEDLINE_HOST_DEVICE constexpr std::uint32_t tap_count(interpolation filter,
                                                                     std::uint32_t from,
                                                                     std::uint32_t to) noexcept {
  if (filter == interpolation::bicubic) return cubic_taps::count_of(from, to);
  if (filter == interpolation::nearest) return nearest_taps::count_of(from, to);
  return resample_taps::count_of(from, to);
}

}  // namespace feedline::detail
