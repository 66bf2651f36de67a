#pragma once

#include <feedline/transform/field_transform.hpp>

#include "transform/operations/check.hpp"
#include "transform/operations/draws.hpp"
#include "transform/operations/wide_steps.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace feedline::detail {

/// `field_transform::gaussian_blur`.
struct gaussian_blur_operation {
  static constexpr auto option = &field_transform::gaussian_blur;
  static constexpr const char* name = "gaussian_blur";
  static constexpr std::uint32_t first_draw = 170;
  static constexpr std::uint32_t draws = 2;

  struct parameters {
    std::uint64_t below = 0;  ///< an image is blurred if a 32-bit draw is below this
    std::uint32_t radius = 0;
    value_range sigma = {};
  };

  static void check(const gaussian_blur& options, const checked_field& field) {
    constexpr std::uint64_t most = 2 * blur_step::max_radius + 1;
    field.colors(name);
    if (options.kernel_size % 2 == 0 || options.kernel_size > most)
      field.refuse("gaussian_blur.kernel_size is " + text_of(options.kernel_size),
                   "say an odd number of 1 to " + text_of(most));
    field.within("gaussian_blur.sigma", options.sigma, 0.05, checked_field::max_ratio);
    field.in_range("gaussian_blur.probability", options.probability, 0, 1);
  }
  static std::string text(const gaussian_blur& options) {
    return "gaussian_blur " + text_of(options.probability) + " kernel " +
           text_of(options.kernel_size) + " sigma" + range_text(options.sigma);
  }
  static std::optional<parameters> plan(const gaussian_blur& options) {
    const std::uint64_t below = draw_bound(options.probability);
    if (below == 0) return std::nullopt;
    return parameters{below, static_cast<std::uint32_t>(options.kernel_size / 2), options.sigma};
  }

  static steps_need needs(const parameters&) noexcept { return steps_need::neighbourhood; }

  FEEDLINE_HOST_DEVICE static void add_steps(const parameters& by, pixel_extents,
                                             std::uint32_t random_bits,
                                             wide_steps& steps) noexcept {
    if (draw(random_bits, choice{first_draw}) >= by.below) return;
    steps.blur = blur_step::of(steps.colors.count, by.radius,
                               draw_in(by.sigma, random_bits, first_draw + 1));
  }
};

}  // namespace feedline::detail
