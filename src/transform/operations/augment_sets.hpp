#pragma once

#include <feedline/transform/field_transform.hpp>

#include "transform/operations/random_affine.hpp"

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>

namespace feedline::detail {

/// Operations that sets draw from, in torchvision's order.
enum class set_operation : std::uint8_t {
  identity,
  shear_x,
  shear_y,
  translate_x,
  translate_y,
  rotate,
  brightness,
  color,
  contrast,
  sharpness,
  posterize,
  solarize,
  autocontrast,
  equalize,
  invert  ///< only in auto_augment
};
inline constexpr std::uint32_t set_operations = 14;  ///< without invert

/// Largest magnitudes of a set, and the bins that they are divided into. As in torchvision
/// (`_AUGMENTATION_SPACE` of transforms/v2/_auto_augment.py, version 0.21).
struct set_magnitudes {
  float shear;
  float translate_x;  ///< pixels
  float translate_y;
  float rotate;  ///< degrees
  float color;   ///< distance from the factor 1
  float bits;    ///< posterize: how many of 8 go
  std::uint32_t bins;
};

/// The magnitudes of rand_augment and auto_augment.
[[nodiscard]] FEEDLINE_HOST_DEVICE inline set_magnitudes narrow_magnitudes(
    pixel_extents image, std::uint32_t bins) noexcept {
  const auto moved = [](std::uint32_t extent) {
    return product(static_cast<float>(150.0 / 331.0), static_cast<float>(extent));
  };
  return {0.3F, moved(image.width), moved(image.height), 30.0F, 0.9F, 4.0F, bins};
}

/// An operation of a set with its magnitude, which may be negative.
struct drawn_of_set {
  set_operation operation;
  float magnitude;
};

/// Value `bin` of torch.linspace(0, most, bins).
[[nodiscard]] FEEDLINE_HOST_DEVICE inline float magnitude_of(float most, std::uint32_t bin,
                                                             std::uint32_t bins) noexcept {
  const float step = quotient(most, static_cast<float>(bins - 1));
  if (bin < bins / 2) return product(step, static_cast<float>(bin));
  return fmaf(-step, static_cast<float>(bins - 1 - bin), most);  // torch's formula
}

/// @param bin The magnitude's. @param negative Whether a magnitude with a sign is below 0.
[[nodiscard]] FEEDLINE_HOST_DEVICE inline drawn_of_set of_set(set_operation operation,
                                                              const set_magnitudes& of,
                                                              std::uint32_t bin,
                                                              bool negative) noexcept {
  const auto signed_of = [&](float most) {
    const float magnitude = magnitude_of(most, bin, of.bins);
    return drawn_of_set{operation, negative ? -magnitude : magnitude};
  };
  switch (operation) {
    case set_operation::shear_x:
    case set_operation::shear_y:
      return signed_of(of.shear);
    case set_operation::translate_x:
      return signed_of(of.translate_x);
    case set_operation::translate_y:
      return signed_of(of.translate_y);
    case set_operation::rotate:
      return signed_of(of.rotate);
    case set_operation::brightness:
    case set_operation::color:
    case set_operation::contrast:
    case set_operation::sharpness:
      return signed_of(of.color);
    case set_operation::posterize: {
      const float lost =
          quotient(static_cast<float>(bin), quotient(static_cast<float>(of.bins - 1), of.bits));
      return {operation, rintf(sum(8.0F, -lost))};
    }
    case set_operation::solarize:
      return {operation, sum(1.0F, -magnitude_of(1.0F, bin, of.bins))};
    default:
      return {operation, 0.0F};
  }
}

/// Adds an operation to a sample's steps, as torchvision's sets apply it.
FEEDLINE_HOST_DEVICE inline void add_of_set(const drawn_of_set& of, pixel_extents image,
                                            feedline::interpolation interpolation, float fill,
                                            sample_steps& steps) noexcept {
  const float by = of.magnitude;
  const auto move = [&](const affine_map& map) { steps.map.then(map, interpolation, fill); };
  const auto color = [&](step_kind kind, float value) { steps.colors.add(kind, value, true); };
  affine_map map;
  switch (of.operation) {
    case set_operation::identity:
      return;
    case set_operation::shear_x:  // around the upper left corner, not the centre
      map.x_of_y = by;
      map.x = product(by, product(static_cast<float>(image.height), 0.5F));
      return move(map);
    case set_operation::shear_y:
      map.y_of_x = by;
      map.y = product(by, product(static_cast<float>(image.width), 0.5F));
      return move(map);
    case set_operation::translate_x:
      map.x = -truncf(by);
      return move(map);
    case set_operation::translate_y:
      map.y = -truncf(by);
      return move(map);
    case set_operation::rotate:
      return move(affine_map::of(-by, 0.0F, 0.0F, 1.0F, 0.0F, 0.0F));
    case set_operation::brightness:
      return color(step_kind::brightness, sum(1.0F, by));
    case set_operation::color:
      return color(step_kind::saturation, sum(1.0F, by));
    case set_operation::contrast:
      return color(step_kind::contrast, sum(1.0F, by));
    case set_operation::sharpness:
      return color(step_kind::sharpness, sum(1.0F, by));
    case set_operation::posterize:
      return color(step_kind::posterize, by);
    case set_operation::solarize:
      return color(step_kind::solarize, product(255.0F, by));
    case set_operation::autocontrast:
      return color(step_kind::autocontrast, 0.0F);
    case set_operation::equalize:
      return color(step_kind::equalize, 0.0F);
    case set_operation::invert:
      return color(step_kind::invert, 0.0F);
  }
}

/// The common part of the sets.
struct augment_set {
  struct parameters {
    std::uint32_t bins = 31;
    std::uint32_t magnitude = 0;   ///< bin of the magnitude; not used by trivial_augment_wide
    std::uint32_t operations = 1;  ///< number of operations that a sample gets
    feedline::interpolation interpolation = feedline::interpolation::nearest;
    float fill = 0.0F;
  };

  static steps_need needs(const parameters&) noexcept { return steps_need::image; }

 protected:
  template <class Options>
  static void check_options(const std::string& name, const Options& options,
                            const checked_field& field) {
    field.colors(name);
    field.in_range(name + ".num_magnitude_bins", static_cast<double>(options.num_magnitude_bins), 2,
                   1000);
    check_resampling(name, options, field);
  }
  [[nodiscard]] FEEDLINE_HOST_DEVICE static set_operation draw_operation(
      std::uint32_t random_bits, std::uint32_t number) noexcept {
    return static_cast<set_operation>(draw_below(random_bits, choice{number}, set_operations));
  }
  [[nodiscard]] FEEDLINE_HOST_DEVICE static bool draw_sign(std::uint32_t random_bits,
                                                           std::uint32_t number) noexcept {
    return (draw(random_bits, choice{number}) >> 31) != 0;
  }
};

/// `field_transform::trivial_augment_wide`.
struct trivial_augment_operation : augment_set {
  static constexpr auto option = &field_transform::trivial_augment_wide;
  static constexpr const char* name = "trivial_augment_wide";
  static constexpr std::uint32_t first_draw = 130;
  static constexpr std::uint32_t draws = 3;

  static void check(const trivial_augment_wide& options, const checked_field& field) {
    check_options(name, options, field);
  }
  static std::string text(const trivial_augment_wide& options) {
    return "trivial_augment_wide bins " + text_of(options.num_magnitude_bins) +
           interpolation_text(options.interpolation, options.fill);
  }
  static std::optional<parameters> plan(const trivial_augment_wide& options) {
    return parameters{.bins = static_cast<std::uint32_t>(options.num_magnitude_bins),
                      .interpolation = options.interpolation,
                      .fill = static_cast<float>(options.fill)};
  }

  [[nodiscard]] FEEDLINE_HOST_DEVICE static drawn_of_set draw(const parameters& by,
                                                              std::uint32_t random_bits) noexcept {
    const set_magnitudes most{0.99F, 32.0F, 32.0F, 135.0F, 0.99F, 6.0F, by.bins};
    return of_set(draw_operation(random_bits, first_draw), most,
                  draw_below(random_bits, choice{first_draw + 1}, by.bins),
                  draw_sign(random_bits, first_draw + 2));
  }
  FEEDLINE_HOST_DEVICE static void add_steps(const parameters& by, pixel_extents image,
                                             std::uint32_t random_bits,
                                             sample_steps& steps) noexcept {
    steps.colors.add(step_kind::round);
    add_of_set(draw(by, random_bits), image, by.interpolation, by.fill, steps);
  }
};

/// `field_transform::rand_augment`.
struct rand_augment_operation : augment_set {
  static constexpr auto option = &field_transform::rand_augment;
  static constexpr const char* name = "rand_augment";
  static constexpr std::uint32_t max_operations = 3;
  static constexpr std::uint32_t first_draw = 134;
  static constexpr std::uint32_t draws = 2 * max_operations;

  static void check(const rand_augment& options, const checked_field& field) {
    check_options(name, options, field);
    field.in_range("rand_augment.num_ops", static_cast<double>(options.num_ops), 1, max_operations);
    field.in_range("rand_augment.magnitude", static_cast<double>(options.magnitude), 0,
                   static_cast<double>(options.num_magnitude_bins - 1));
  }
  static std::string text(const rand_augment& options) {
    return "rand_augment num_ops " + text_of(options.num_ops) + " magnitude " +
           text_of(options.magnitude) + " bins " + text_of(options.num_magnitude_bins) +
           interpolation_text(options.interpolation, options.fill);
  }
  static std::optional<parameters> plan(const rand_augment& options) {
    return parameters{static_cast<std::uint32_t>(options.num_magnitude_bins),
                      static_cast<std::uint32_t>(options.magnitude),
                      static_cast<std::uint32_t>(options.num_ops), options.interpolation,
                      static_cast<float>(options.fill)};
  }

  /// @param number Below the number of operations.
  [[nodiscard]] FEEDLINE_HOST_DEVICE static drawn_of_set draw(const parameters& by,
                                                              pixel_extents image,
                                                              std::uint32_t random_bits,
                                                              std::uint32_t number) noexcept {
    const set_magnitudes most = narrow_magnitudes(image, by.bins);
    return of_set(draw_operation(random_bits, first_draw + 2 * number), most, by.magnitude,
                  draw_sign(random_bits, first_draw + 2 * number + 1));
  }
  FEEDLINE_HOST_DEVICE static void add_steps(const parameters& by, pixel_extents image,
                                             std::uint32_t random_bits,
                                             sample_steps& steps) noexcept {
    steps.colors.add(step_kind::round);
    FEEDLINE_SHORT_LOOP
    for (std::uint32_t i = 0; i < by.operations; ++i)
      add_of_set(draw(by, image, random_bits, i), image, by.interpolation, by.fill, steps);
  }
};

}  // namespace feedline::detail
