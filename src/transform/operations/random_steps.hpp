#pragma once

#include <feedline/transform/field_transform.hpp>

#include "transform/operations/check.hpp"
#include "transform/operations/draws.hpp"
#include "transform/operations/steps.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace feedline::detail {

/// The common part of operations that a sample gets with a probability, each a step.
template <step_kind Kind, steps_need Need, std::uint32_t Draw>
struct random_step_operation {
  static constexpr std::uint32_t first_draw = Draw;
  static constexpr std::uint32_t draws = 1;

  struct parameters {
    std::uint64_t below = 0;  ///< an image is changed if a 32-bit draw is below this
    float value = 0.0F;       ///< the step's
  };

  static steps_need needs(const parameters&) noexcept { return Need; }

  FEEDLINE_HOST_DEVICE static void add_steps(const parameters& by, pixel_extents,
                                             std::uint32_t random_bits,
                                             sample_steps& steps) noexcept {
    if (draw(random_bits, choice{first_draw}) < by.below)
      steps.colors.add(Kind, by.value, Kind != step_kind::grayscale);
  }

 protected:
  static std::optional<parameters> planned(double probability, double value = 0) {
    const std::uint64_t below = draw_bound(probability);
    if (below == 0) return std::nullopt;
    return parameters{below, static_cast<float>(value)};
  }
  static void check_colors(const std::string& name, double probability,
                           const checked_field& field) {
    field.colors(name);
    field.in_range(name + ".probability", probability, 0, 1);
  }
};

/// `field_transform::grayscale`: all channels become the pixel's grey.
struct random_grayscale_operation
    : random_step_operation<step_kind::grayscale, steps_need::pixels, 106> {
  static constexpr auto option = &field_transform::grayscale;
  static constexpr const char* name = "grayscale";

  static void check(const random_grayscale& options, const checked_field& field) {
    check_colors(name, options.probability, field);
    if (field.channels != 3)
      field.refuse("grayscale is set and the field is " + to_string(field.of),
                   "images of three channels, red, green and blue, become grey");
    if (options.channels != 1 && options.channels != 3)
      field.refuse("grayscale.channels is " + text_of(options.channels), "say 1 or 3");
    if (options.channels == 1 && options.probability != 1)
      field.refuse(
          "grayscale.channels is 1 and grayscale.probability is " + text_of(options.probability),
          "all images of a batch have as many channels, say 3 channels or probability 1");
  }
  static std::string text(const random_grayscale& options) {
    return "grayscale " + text_of(options.probability) +
           (options.channels == 1 ? " to 1 channel" : "");
  }
  static std::uint64_t channels_after(const random_grayscale& options, std::uint64_t) {
    return options.channels;
  }
  static std::optional<parameters> plan(const random_grayscale& options) {
    return planned(options.probability, static_cast<double>(options.channels));
  }
};

/// `field_transform::invert`.
struct random_invert_operation : random_step_operation<step_kind::invert, steps_need::pixels, 107> {
  static constexpr auto option = &field_transform::invert;
  static constexpr const char* name = "invert";

  static void check(const random_invert& options, const checked_field& field) {
    check_colors(name, options.probability, field);
  }
  static std::string text(const random_invert& options) {
    return "invert " + text_of(options.probability);
  }
  static std::optional<parameters> plan(const random_invert& options) {
    return planned(options.probability);
  }
};

/// `field_transform::posterize`.
struct random_posterize_operation
    : random_step_operation<step_kind::posterize, steps_need::pixels, 108> {
  static constexpr auto option = &field_transform::posterize;
  static constexpr const char* name = "posterize";

  static void check(const random_posterize& options, const checked_field& field) {
    check_colors(name, options.probability, field);
    field.in_range("posterize.bits", static_cast<double>(options.bits), 0, 8);
  }
  static std::string text(const random_posterize& options) {
    return "posterize " + text_of(options.probability) + " to " + text_of(options.bits) + " bits";
  }
  static std::optional<parameters> plan(const random_posterize& options) {
    return planned(options.probability, static_cast<double>(options.bits));
  }
};

/// `field_transform::solarize`.
struct random_solarize_operation
    : random_step_operation<step_kind::solarize, steps_need::pixels, 109> {
  static constexpr auto option = &field_transform::solarize;
  static constexpr const char* name = "solarize";

  static void check(const random_solarize& options, const checked_field& field) {
    check_colors(name, options.probability, field);
    field.in_range("solarize.threshold", options.threshold, 0, 256);
  }
  static std::string text(const random_solarize& options) {
    return "solarize " + text_of(options.probability) + " from " + text_of(options.threshold);
  }
  static std::optional<parameters> plan(const random_solarize& options) {
    return planned(options.probability, options.threshold);
  }
};

/// `field_transform::autocontrast`.
struct random_autocontrast_operation
    : random_step_operation<step_kind::autocontrast, steps_need::image, 116> {
  static constexpr auto option = &field_transform::autocontrast;
  static constexpr const char* name = "autocontrast";

  static void check(const random_autocontrast& options, const checked_field& field) {
    check_colors(name, options.probability, field);
  }
  static std::string text(const random_autocontrast& options) {
    return "autocontrast " + text_of(options.probability);
  }
  static std::optional<parameters> plan(const random_autocontrast& options) {
    return planned(options.probability);
  }
};

/// `field_transform::equalize`.
struct random_equalize_operation
    : random_step_operation<step_kind::equalize, steps_need::image, 117> {
  static constexpr auto option = &field_transform::equalize;
  static constexpr const char* name = "equalize";

  static void check(const random_equalize& options, const checked_field& field) {
    check_colors(name, options.probability, field);
  }
  static std::string text(const random_equalize& options) {
    return "equalize " + text_of(options.probability);
  }
  static std::optional<parameters> plan(const random_equalize& options) {
    return planned(options.probability);
  }
};

/// `field_transform::sharpness`.
struct random_sharpness_operation
    : random_step_operation<step_kind::sharpness, steps_need::pixels, 118> {
  static constexpr auto option = &field_transform::sharpness;
  static constexpr const char* name = "sharpness";

  static void check(const random_adjust_sharpness& options, const checked_field& field) {
    check_colors(name, options.probability, field);
    field.in_range("sharpness.sharpness_factor", options.sharpness_factor, 0,
                   checked_field::max_ratio);
  }
  static std::string text(const random_adjust_sharpness& options) {
    return "sharpness " + text_of(options.probability) + " factor " +
           text_of(options.sharpness_factor);
  }
  static std::optional<parameters> plan(const random_adjust_sharpness& options) {
    return planned(options.probability, options.sharpness_factor);
  }
};

}  // namespace feedline::detail
