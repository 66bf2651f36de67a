#pragma once

#include <feedline/transform/field_transform.hpp>

#include "transform/operations/check.hpp"
#include "transform/operations/draws.hpp"
#include "transform/operations/steps.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace feedline::detail {

/// Checks how an operation makes pixels. Outside the image they are bytes, so that all steps see
/// values of 0 to 255.
template <class Options>
void check_resampling(const std::string& name, const Options& options, const checked_field& field) {
  field.in_range(name + ".fill", options.fill, 0, 255);
  if (options.interpolation != feedline::interpolation::nearest &&
      options.interpolation != feedline::interpolation::bilinear)
    field.refuse(name + ".interpolation is bicubic", "say nearest or bilinear");
}

[[nodiscard]] inline std::string interpolation_text(feedline::interpolation interpolation,
                                                    double fill) {
  std::string text = interpolation == feedline::interpolation::bilinear ? " bilinear" : "";
  if (fill != 0.0) text += " fill " + text_of(fill);
  return text;
}

/// `field_transform::affine`.
struct random_affine_operation {
  static constexpr auto option = &field_transform::affine;
  static constexpr const char* name = "affine";
  static constexpr std::uint32_t first_draw = 120;
  static constexpr std::uint32_t draws = 6;

  struct parameters {
    value_range degrees = {};
    double translate_x = 0.0;
    double translate_y = 0.0;
    value_range scale = {1.0, 1.0};
    value_range shear_x = {};
    value_range shear_y = {};
    feedline::interpolation interpolation = feedline::interpolation::nearest;
    float fill = 0.0F;
  };

  static void check(const random_affine& options, const checked_field& field) {
    field.colors(name);
    field.within("affine.degrees", options.degrees, -360, 360);
    for (const double share : options.translate) field.in_range("affine.translate", share, 0, 1);
    field.ratio("affine.scale", options.scale);
    field.within("affine.shear", shear_of(options, 0), -89, 89);
    field.within("affine.shear", shear_of(options, 1), -89, 89);
    check_resampling(name, options, field);
  }

  static std::string text(const random_affine& options) {
    return "affine degrees" + range_text(options.degrees) + " translate " +
           text_of(options.translate[0]) + ' ' + text_of(options.translate[1]) + " scale" +
           range_text(options.scale) + " shear" + range_text(shear_of(options, 0)) +
           range_text(shear_of(options, 1)) +
           interpolation_text(options.interpolation, options.fill);
  }

  static std::optional<parameters> plan(const random_affine& options) {
    return parameters{options.degrees,       options.translate[0],
                      options.translate[1],  options.scale,
                      shear_of(options, 0),  shear_of(options, 1),
                      options.interpolation, static_cast<float>(options.fill)};
  }

  static steps_need needs(const parameters&) noexcept { return steps_need::pixels; }

  [[nodiscard]] FEEDLINE_HOST_DEVICE static pixel_map draw_map(const parameters& by,
                                                               pixel_extents image,
                                                               std::uint32_t random_bits) noexcept {
    const auto moved = [&](double share, std::uint32_t extent, std::uint32_t number) {
      const double most = share * extent;
      return rintf(draw_in({-most, most}, random_bits, first_draw + number));
    };
    return pixel_map::of(
        draw_in(by.degrees, random_bits, first_draw), moved(by.translate_x, image.width, 1),
        moved(by.translate_y, image.height, 2), draw_in(by.scale, random_bits, first_draw + 3),
        draw_in(by.shear_x, random_bits, first_draw + 4),
        draw_in(by.shear_y, random_bits, first_draw + 5));
  }
  FEEDLINE_HOST_DEVICE static void add_steps(const parameters& by, pixel_extents image,
                                             std::uint32_t random_bits,
                                             sample_steps& steps) noexcept {
    steps.map.then(draw_map(by, image, random_bits), by.interpolation, by.fill);
  }

 private:
  static value_range shear_of(const random_affine& options, std::size_t axis) {
    return {options.shear[2 * axis], options.shear[2 * axis + 1]};
  }
};

}  // namespace feedline::detail
