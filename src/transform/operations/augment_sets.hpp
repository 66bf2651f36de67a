#pragma once

#include <feedline/transform/field_transform.hpp>

#include "transform/operations/check.hpp"
#include "transform/operations/draws.hpp"
#include "transform/operations/random_affine.hpp"
#include "transform/operations/set_operation.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace feedline::detail {

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
