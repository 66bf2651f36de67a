#pragma once

#include "detail/host_device.hpp"
#include "image/resize/resample_taps.hpp"

#include <cstdint>

namespace feedline::detail {

/// Like `resample_taps`, for `interpolation::nearest`: the element under the resized element's
/// middle has the whole weight. If the middle is between two, it is the second one, as in Pillow.
class nearest_taps {
 public:
  FEEDLINE_HOST_DEVICE constexpr nearest_taps(std::uint32_t from, std::uint32_t to,
                                              std::uint32_t i) noexcept
      : first_{static_cast<std::uint32_t>((2 * std::uint64_t{i} + 1) * from /
                                          (2 * std::uint64_t{to}))} {}

  [[nodiscard]] FEEDLINE_HOST_DEVICE static constexpr std::uint32_t count_of(
      std::uint32_t, std::uint32_t) noexcept {
    return 1;
  }
  [[nodiscard]] FEEDLINE_HOST_DEVICE constexpr std::uint32_t first() const noexcept {
    return first_;
  }
  [[nodiscard]] FEEDLINE_HOST_DEVICE constexpr std::uint32_t count() const noexcept { return 1; }
  [[nodiscard]] FEEDLINE_HOST_DEVICE constexpr std::int32_t weight_before(
      std::uint32_t tap) const noexcept {
    return tap == 0 ? 0 : 1 << resample_taps::weight_bits;
  }

 private:
  std::uint32_t first_;
};

}  // namespace feedline::detail
