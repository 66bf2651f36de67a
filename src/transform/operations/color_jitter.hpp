#pragma once

#include <feedline/transform/field_transform.hpp>

#include "transform/operations/check.hpp"
#include "transform/operations/steps.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

namespace feedline::detail {

/// `field_transform::jitter`: brightness, contrast, saturation, hue, in an order that is drawn.
struct color_jitter_operation {
  static constexpr auto option = &field_transform::jitter;
  static constexpr const char* name = "jitter";
  static constexpr std::uint32_t first_draw = 100;
  static constexpr std::uint32_t draws = 5;

  struct parameters {
    value_range brightness = {1.0, 1.0};  ///< factors
    value_range contrast = {1.0, 1.0};
    value_range saturation = {1.0, 1.0};
    value_range hue = {};  ///< added, in full circles
  };

  static void check(const color_jitter& options, const checked_field& field) {
    field.colors(name);
    field.in_range("jitter.brightness", options.brightness, 0, checked_field::max_ratio);
    field.in_range("jitter.contrast", options.contrast, 0, checked_field::max_ratio);
    field.in_range("jitter.saturation", options.saturation, 0, checked_field::max_ratio);
    field.in_range("jitter.hue", options.hue, 0, 0.5);
  }

  static std::string text(const color_jitter& options) {
    return "jitter brightness " + text_of(options.brightness) + " contrast " +
           text_of(options.contrast) + " saturation " + text_of(options.saturation) + " hue " +
           text_of(options.hue);
  }

  static std::optional<parameters> plan(const color_jitter& options) {
    const auto around_1 = [](double by) { return value_range{std::max(0.0, 1 - by), 1 + by}; };
    return parameters{around_1(options.brightness),
                      around_1(options.contrast),
                      around_1(options.saturation),
                      {-options.hue, options.hue}};
  }

  static steps_need needs(const parameters& by) noexcept {
    return is_only(by.contrast, 1.0F) ? steps_need::pixels : steps_need::image;
  }

  FEEDLINE_HOST_DEVICE static void add_steps(const parameters& by, pixel_extents,
                                             std::uint32_t random_bits,
                                             sample_steps& steps) noexcept {
    constexpr auto first_kind = static_cast<std::uint32_t>(step_kind::brightness);
    // A permutation of four: each digit is an index among those that are left.
    std::uint32_t order = draw_below(random_bits, choice{first_draw + 4}, 24);
    std::uint32_t left = 0x3210;  // a hexadecimal digit each
    FEEDLINE_SHORT_LOOP
    for (std::uint32_t size = 4; size > 0; --size) {
      const std::uint32_t shift = order % size * 4;
      order /= size;
      const std::uint32_t number = left >> shift & 0xF;
      left = (left >> (shift + 4) << shift) | (left & ((1U << shift) - 1));
      const value_range& range = number == 0   ? by.brightness
                                 : number == 1 ? by.contrast
                                 : number == 2 ? by.saturation
                                               : by.hue;
      if (!is_only(range, number == 3 ? 0.0F : 1.0F))
        steps.colors.add(static_cast<step_kind>(first_kind + number),
                         draw_in(range, random_bits, first_draw + number));
    }
  }

 private:
  FEEDLINE_HOST_DEVICE static bool is_only(const value_range& range, float value) noexcept {
    return static_cast<float>(range.low) == value && static_cast<float>(range.high) == value;
  }
};

}  // namespace feedline::detail
