#pragma once

#include <feedline/transform/field_transform.hpp>

#include "transform/operations/check.hpp"
#include "transform/operations/draws.hpp"
#include "transform/operations/normal.hpp"
#include "transform/operations/random_affine.hpp"
#include "transform/operations/set_operation.hpp"
#include "transform/operations/wide_steps.hpp"

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>

namespace feedline::detail {

/// A draw from the Gamma distribution with this shape and scale 1 (G. Marsaglia and W. W. Tsang, "A
/// Simple Method for Generating Gamma Variables", ACM Transactions on Mathematical Software 26(3),
/// 2000). The eighth try is taken as it is: fewer than 1 of 10^9 draws need it.
/// @param shape 0.1 to 1000. @param key Used for nothing else: draws 0 to 16 are of it.
[[nodiscard]] FEEDLINE_HOST_DEVICE inline float gamma_draw(float shape,
                                                           std::uint32_t key) noexcept {
  const auto uniform = [&](std::uint32_t number) {
    const auto part = static_cast<float>(draw(key, choice{number}) >> 8);
    return product(sum(part, 0.5F), 0x1p-24F);
  };
  const float raised = shape < 1.0F ? sum(shape, 1.0F) : shape;
  const float size = sum(raised, -1.0F / 3);
  const float slope = quotient(1.0F, square_root(product(9.0F, size)));
  float cube = 1.0F;
  FEEDLINE_SHORT_LOOP
  for (std::uint32_t number = 0; number < 16; number += 2) {
    const float x = normal(draw(key, choice{number}));
    const float root = sum(1.0F, product(slope, x));
    if (root < 1e-6F) continue;
    cube = product(product(root, root), root);
    const float kept =
        sum(product(0.5F, product(x, x)), product(size, sum(sum(1.0F, -cube), logarithm(cube))));
    if (logarithm(uniform(number + 1)) < kept) break;
  }
  const float made = product(size, cube);
  if (shape >= 1.0F) return made;
  const float power = quotient(product(logarithm(uniform(16)), 1.4426950F), shape);
  return product(made, power_of_two(fmaxf(power, -100.0F)));
}

/// `field_transform::augmix`.
struct augmix_operation {
  static constexpr auto option = &field_transform::augmix;
  static constexpr const char* name = "augmix";
  static constexpr std::uint32_t first_draw = 180;
  static constexpr std::uint32_t draws = 1;
  static constexpr std::uint32_t max_depth = 3;

  struct parameters {
    std::uint32_t severity = 3;
    std::uint32_t width = 3;
    std::uint32_t depth = 0;  ///< 0: drawn for each chain, 1 to `max_depth`
    float alpha = 1.0F;
    bool all = true;  ///< operations on brightness, colour, contrast and sharpness, too
    feedline::interpolation interpolation = feedline::interpolation::bilinear;
    float fill = 0.0F;
  };

  static void check(const augmix& options, const checked_field& field) {
    field.colors(name);
    field.in_range("augmix.severity", static_cast<double>(options.severity), 1, bins);
    field.in_range("augmix.mixture_width", static_cast<double>(options.mixture_width), 1,
                   chain_mix::max_chains);
    if (options.chain_depth != -1)
      field.in_range("augmix.chain_depth", static_cast<double>(options.chain_depth), 1, max_depth);
    field.in_range("augmix.alpha", options.alpha, 0.1, checked_field::max_ratio);
    check_resampling(name, options, field);
  }
  static std::string text(const augmix& options) {
    return "augmix severity " + text_of(options.severity) + " width " +
           text_of(options.mixture_width) + " depth " + std::to_string(options.chain_depth) +
           " alpha " + text_of(options.alpha) + (options.all_ops ? "" : " without colours") +
           interpolation_text(options.interpolation, options.fill);
  }
  static std::optional<parameters> plan(const augmix& options) {
    return parameters{static_cast<std::uint32_t>(options.severity),
                      static_cast<std::uint32_t>(options.mixture_width),
                      options.chain_depth < 0 ? 0 : static_cast<std::uint32_t>(options.chain_depth),
                      static_cast<float>(options.alpha),
                      options.all_ops,
                      options.interpolation,
                      static_cast<float>(options.fill)};
  }

  static steps_need needs(const parameters&) noexcept { return steps_need::images; }

  /// An operation of a chain, as torchvision draws it (`_AUGMENTATION_SPACE` of `AugMix` in
  /// transforms/v2/_auto_augment.py, version 0.21).
  /// @param key Used for nothing else: draws 0 to 2 are of it.
  [[nodiscard]] FEEDLINE_HOST_DEVICE static drawn_of_set draw_operation(
      const parameters& by, pixel_extents image, std::uint32_t key) noexcept {
    const auto third = [](std::uint32_t extent) {
      return quotient(static_cast<float>(extent), 3.0F);
    };
    const set_magnitudes most{
        0.3F, third(image.width), third(image.height), 30.0F, 0.9F, 4.0F, bins, 4.0F};
    // All but identity and, if wanted, the four that change colours by a factor.
    constexpr std::uint32_t factors = 4;
    const std::uint32_t first_factor = static_cast<std::uint32_t>(set_operation::brightness);
    const std::uint32_t count = set_operations - 1 - (by.all ? 0 : factors);
    std::uint32_t number = 1 + draw_below(key, choice{0}, count);
    if (!by.all && number >= first_factor) number += factors;
    return of_set(static_cast<set_operation>(number), most, draw_below(key, choice{1}, by.severity),
                  (draw(key, choice{2}) >> 31) != 0);
  }

  FEEDLINE_HOST_DEVICE static void add_steps(const parameters& by, pixel_extents image,
                                             std::uint32_t random_bits,
                                             wide_steps& steps) noexcept {
    const std::uint32_t key = draw(random_bits, choice{first_draw});
    const auto key_of = [&](std::uint32_t number) { return draw(key, choice{number}); };
    set_weights(by, key, steps.mix);
    steps.mix.start = steps.map;
    FEEDLINE_SHORT_LOOP
    for (std::uint32_t i = 0; i < by.width; ++i) {
      step_chain& chain = steps.mix.chain[i];
      chain.clear();
      chain.map = steps.map;
      chain.colors.add(step_kind::round);
      const std::uint32_t first = weight_keys + i * chain_keys;
      const std::uint32_t depth =
          by.depth != 0 ? by.depth : 1 + draw_below(key, choice{first}, max_depth);
      FEEDLINE_SHORT_LOOP
      for (std::uint32_t k = 0; k < depth; ++k)
        add_of_set(draw_operation(by, image, key_of(first + 1 + k)), image, by.interpolation,
                   by.fill, chain);
    }
    steps.map = {};  // the chains have it
  }

 private:
  static constexpr std::uint32_t bins = 10;
  static constexpr std::uint32_t weight_keys = 2 + chain_mix::max_chains;
  static constexpr std::uint32_t chain_keys = 1 + max_depth;

  /// Draws the weights of the image and its chains from two Dirichlet distributions.
  FEEDLINE_HOST_DEVICE static void set_weights(const parameters& by, std::uint32_t key,
                                               chain_mix& mix) noexcept {
    const auto gamma = [&](std::uint32_t number) {
      return gamma_draw(by.alpha, draw(key, choice{number}));
    };
    const float own = gamma(0);
    const float others = gamma(1);
    float all = 0.0F;
    FEEDLINE_SHORT_LOOP
    for (std::uint32_t i = 0; i < by.width; ++i) {
      mix.weight[i] = gamma(2 + i);
      all = sum(all, mix.weight[i]);
    }
    mix.count = by.width;
    mix.own = quotient(own, sum(own, others));
    const float share = quotient(quotient(others, sum(own, others)), all);
    FEEDLINE_SHORT_LOOP
    for (std::uint32_t i = 0; i < by.width; ++i) mix.weight[i] = product(share, mix.weight[i]);
  }
};

}  // namespace feedline::detail
