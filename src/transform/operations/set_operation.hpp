#pragma once

#include <feedline/dataset/interpolation.hpp>

#include "transform/operations/steps.hpp"

#include <cmath>
#include <cstdint>

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
  float kept_bits = 8.0F;  ///< posterize: bits that the magnitude 0 keeps
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
      return {operation, rintf(sum(of.kept_bits, -lost))};
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
                                            step_chain& steps) noexcept {
  const float by = of.magnitude;
  const auto move = [&](const pixel_map& map) { steps.map.then(map, interpolation, fill); };
  const auto color = [&](step_kind kind, float value) { steps.colors.add(kind, value, true); };
  pixel_map map;
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
      return move(pixel_map::of(-by, 0.0F, 0.0F, 1.0F, 0.0F, 0.0F));
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

}  // namespace feedline::detail
