#pragma once

#include "transform/operations/color.hpp"

#include <cmath>
#include <cstdint>

namespace feedline::detail {

/// A blur by a Gaussian kernel, drawn for a sample: lines first, then columns.
struct blur_step {
  static constexpr std::uint32_t max_radius = 16;

  bool any = false;
  std::uint32_t at = 0;                   ///< number of the colour steps before it
  std::uint32_t radius = 0;               ///< pixels on each side; at most `max_radius`
  float weight[max_radius + 1] = {1.0F};  ///< those of a pixel's distances, whose sum is 1

  /// Like torchvision's kernel of 2 × radius + 1 pixels.
  [[nodiscard]] FEEDLINE_HOST_DEVICE static blur_step of(std::uint32_t at, std::uint32_t radius,
                                                         float sigma) noexcept {
    blur_step step;
    step.any = true;
    step.at = at;
    step.radius = radius;
    const float scale = quotient(-0.72134752F, product(sigma, sigma));  // log2(e) / -2
    float all = 1.0F;
    FEEDLINE_SHORT_LOOP
    for (std::uint32_t i = 1; i <= radius; ++i) {
      const auto square = static_cast<float>(i * i);
      step.weight[i] = power_of_two(fmaxf(product(scale, square), -100.0F));
      all = sum(all, product(2.0F, step.weight[i]));
    }
    FEEDLINE_SHORT_LOOP
    for (std::uint32_t i = 0; i <= radius; ++i) step.weight[i] = quotient(step.weight[i], all);
    return step;
  }

  /// @param value Returns the value at a distance of -radius to radius.
  template <class Value>
  [[nodiscard]] FEEDLINE_HOST_DEVICE float blurred(const Value& value) const noexcept {
    float all = product(weight[0], value(0));
    FEEDLINE_SHORT_LOOP
    for (std::int32_t i = 1; i <= static_cast<std::int32_t>(radius); ++i)
      all = sum(all, product(weight[i], sum(value(-i), value(i))));
    return all;
  }
};

/// The coordinate within an extent that an image, mirrored at its first and last pixels, shows.
[[nodiscard]] FEEDLINE_HOST_DEVICE inline std::uint32_t mirrored(std::int32_t at,
                                                                 std::uint32_t extent) noexcept {
  const auto last = static_cast<std::int32_t>(extent) - 1;
  if (last == 0) return 0;
  FEEDLINE_SHORT_LOOP
  while (at < 0 || at > last) at = at < 0 ? -at : 2 * last - at;
  return static_cast<std::uint32_t>(at);
}

}  // namespace feedline::detail
