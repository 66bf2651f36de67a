#pragma once

#include <feedline/transform/field_transform.hpp>

#include "transform/operations/augment_sets.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace feedline::detail {

/// An operation that a sample gets with a probability, with a bin of its magnitude.
struct policy_entry {
  set_operation operation;
  std::uint8_t tenths;  ///< probability
  std::uint8_t bin;     ///< below 10
};

inline constexpr std::uint32_t policy_pairs = 25;

/// A policy's pair of operations, as torchvision has them (`_get_policies` of
/// transforms/v2/_auto_augment.py, version 0.21).
/// @param number Below `policy_pairs`. @param second 0 or 1.
[[nodiscard]] FEEDLINE_HOST_DEVICE inline policy_entry entry_of(auto_augment_policy policy,
                                                                std::uint32_t number,
                                                                std::uint32_t second) noexcept {
  using enum set_operation;
  // clang-format off
  static constexpr policy_entry all[3][policy_pairs][2] = {
    {{{posterize, 4, 8}, {rotate, 6, 9}},
     {{solarize, 6, 5}, {autocontrast, 6, 0}},
     {{equalize, 8, 0}, {equalize, 6, 0}},
     {{posterize, 6, 7}, {posterize, 6, 6}},
     {{equalize, 4, 0}, {solarize, 2, 4}},
     {{equalize, 4, 0}, {rotate, 8, 8}},
     {{solarize, 6, 3}, {equalize, 6, 0}},
     {{posterize, 8, 5}, {equalize, 10, 0}},
     {{rotate, 2, 3}, {solarize, 6, 8}},
     {{equalize, 6, 0}, {posterize, 4, 6}},
     {{rotate, 8, 8}, {color, 4, 0}},
     {{rotate, 4, 9}, {equalize, 6, 0}},
     {{equalize, 0, 0}, {equalize, 8, 0}},
     {{invert, 6, 0}, {equalize, 10, 0}},
     {{color, 6, 4}, {contrast, 10, 8}},
     {{rotate, 8, 8}, {color, 10, 2}},
     {{color, 8, 8}, {solarize, 8, 7}},
     {{sharpness, 4, 7}, {invert, 6, 0}},
     {{shear_x, 6, 5}, {equalize, 10, 0}},
     {{color, 4, 0}, {equalize, 6, 0}},
     {{equalize, 4, 0}, {solarize, 2, 4}},
     {{solarize, 6, 5}, {autocontrast, 6, 0}},
     {{invert, 6, 0}, {equalize, 10, 0}},
     {{color, 6, 4}, {contrast, 10, 8}},
     {{equalize, 8, 0}, {equalize, 6, 0}}},
    {{{invert, 1, 0}, {contrast, 2, 6}},
     {{rotate, 7, 2}, {translate_x, 3, 9}},
     {{sharpness, 8, 1}, {sharpness, 9, 3}},
     {{shear_y, 5, 8}, {translate_y, 7, 9}},
     {{autocontrast, 5, 0}, {equalize, 9, 0}},
     {{shear_y, 2, 7}, {posterize, 3, 7}},
     {{color, 4, 3}, {brightness, 6, 7}},
     {{sharpness, 3, 9}, {brightness, 7, 9}},
     {{equalize, 6, 0}, {equalize, 5, 0}},
     {{contrast, 6, 7}, {sharpness, 6, 5}},
     {{color, 7, 7}, {translate_x, 5, 8}},
     {{equalize, 3, 0}, {autocontrast, 4, 0}},
     {{translate_y, 4, 3}, {sharpness, 2, 6}},
     {{brightness, 9, 6}, {color, 2, 8}},
     {{solarize, 5, 2}, {invert, 0, 0}},
     {{equalize, 2, 0}, {autocontrast, 6, 0}},
     {{equalize, 2, 0}, {equalize, 6, 0}},
     {{color, 9, 9}, {equalize, 6, 0}},
     {{autocontrast, 8, 0}, {solarize, 2, 8}},
     {{brightness, 1, 3}, {color, 7, 0}},
     {{solarize, 4, 5}, {autocontrast, 9, 0}},
     {{translate_y, 9, 9}, {translate_y, 7, 9}},
     {{autocontrast, 9, 0}, {solarize, 8, 3}},
     {{equalize, 8, 0}, {invert, 1, 0}},
     {{translate_y, 7, 9}, {autocontrast, 9, 0}}},
    {{{shear_x, 9, 4}, {invert, 2, 0}},
     {{shear_y, 9, 8}, {invert, 7, 0}},
     {{equalize, 6, 0}, {solarize, 6, 6}},
     {{invert, 9, 0}, {equalize, 6, 0}},
     {{equalize, 6, 0}, {rotate, 9, 3}},
     {{shear_x, 9, 4}, {autocontrast, 8, 0}},
     {{shear_y, 9, 8}, {invert, 4, 0}},
     {{shear_y, 9, 5}, {solarize, 2, 6}},
     {{invert, 9, 0}, {autocontrast, 8, 0}},
     {{equalize, 6, 0}, {rotate, 9, 3}},
     {{shear_x, 9, 4}, {solarize, 3, 3}},
     {{shear_y, 8, 8}, {invert, 7, 0}},
     {{equalize, 9, 0}, {translate_y, 6, 6}},
     {{invert, 9, 0}, {equalize, 6, 0}},
     {{contrast, 3, 3}, {rotate, 8, 4}},
     {{invert, 8, 0}, {translate_y, 0, 2}},
     {{shear_y, 7, 6}, {solarize, 4, 8}},
     {{invert, 6, 0}, {rotate, 8, 4}},
     {{shear_y, 3, 7}, {translate_x, 9, 3}},
     {{shear_x, 1, 6}, {invert, 6, 0}},
     {{solarize, 7, 2}, {translate_y, 6, 7}},
     {{shear_y, 8, 4}, {invert, 8, 0}},
     {{shear_x, 7, 9}, {translate_y, 8, 3}},
     {{shear_y, 8, 5}, {autocontrast, 7, 0}},
     {{shear_x, 7, 2}, {invert, 1, 0}}},
  };
  // clang-format on
  return all[static_cast<std::uint32_t>(policy)][number][second];
}

/// `field_transform::auto_augment`.
struct auto_augment_operation : augment_set {
  static constexpr auto option = &field_transform::auto_augment;
  static constexpr const char* name = "auto_augment";
  static constexpr std::uint32_t first_draw = 140;
  static constexpr std::uint32_t draws = 5;

  struct parameters {
    auto_augment_policy policy = auto_augment_policy::imagenet;
    feedline::interpolation interpolation = feedline::interpolation::nearest;
    float fill = 0.0F;
  };
  static steps_need needs(const parameters&) noexcept { return steps_need::image; }

  static void check(const auto_augment& options, const checked_field& field) {
    field.colors(name);
    check_resampling(name, options, field);
  }
  static std::string text(const auto_augment& options) {
    static constexpr const char* names[] = {"imagenet", "cifar10", "svhn"};
    return std::string{"auto_augment "} + names[static_cast<std::size_t>(options.policy)] +
           interpolation_text(options.interpolation, options.fill);
  }
  static std::optional<parameters> plan(const auto_augment& options) {
    return parameters{options.policy, options.interpolation, static_cast<float>(options.fill)};
  }

  FEEDLINE_HOST_DEVICE static void add_steps(const parameters& by, pixel_extents image,
                                             std::uint32_t random_bits,
                                             sample_steps& steps) noexcept {
    steps.colors.add(step_kind::round);
    const set_magnitudes most = narrow_magnitudes(image, 10);
    const std::uint32_t pair = draw_below(random_bits, choice{first_draw}, policy_pairs);
    FEEDLINE_SHORT_LOOP
    for (std::uint32_t i = 0; i < 2; ++i) {
      const policy_entry entry = entry_of(by.policy, pair, i);
      const std::uint64_t below = (std::uint64_t{entry.tenths} << 32) / 10;
      if (draw(random_bits, choice{first_draw + 1 + 2 * i}) >= below) continue;
      const bool negative = draw_sign(random_bits, first_draw + 2 + 2 * i);
      add_of_set(of_set(entry.operation, most, entry.bin, negative), image, by.interpolation,
                 by.fill, steps);
    }
  }
};

}  // namespace feedline::detail
