#pragma once

#include <feedline/transform/field_transform.hpp>

#include "transform/operations/check.hpp"
#include "transform/operations/draws.hpp"
#include "transform/operations/pixel.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>

namespace feedline::detail {

/// The value times its factor plus the other times 1 - factor, clamped to 0 … 255.
[[nodiscard]] FEEDLINE_HOST_DEVICE inline float blended(float value, float other,
                                                        float factor) noexcept {
  const float mixed = sum(product(factor, value), product(sum(1.0F, -factor), other));
  return mixed < 0.0F ? 0.0F : mixed > 255.0F ? 255.0F : mixed;
}

FEEDLINE_HOST_DEVICE inline void blend_all(color& pixel, float other, float factor,
                                           std::uint32_t channels) noexcept {
  for (std::uint32_t c = 0; c < 3; ++c)
    if (c < channels) pixel.of[c] = blended(pixel.of[c], other, factor);
}

/// Rotates a pixel's hue by a fraction of a circle, -1/2 to 1/2, by way of hue, saturation and
/// value (A. R. Smith, "Color gamut transform pairs", SIGGRAPH 1978).
FEEDLINE_HOST_DEVICE inline void turn_hue(color& pixel, float by) noexcept {
  const float r = pixel.of[0];
  const float g = pixel.of[1];
  const float b = pixel.of[2];
  const float most = r > g ? (r > b ? r : b) : (g > b ? g : b);
  const float least = r < g ? (r < b ? r : b) : (g < b ? g : b);
  const float spread = sum(most, -least);
  if (spread == 0.0F) return;  // grey has no hue
  const auto between = [&](float from, float to) { return quotient(sum(to, -from), spread); };
  // In sixths of a circle: 0 red, 2 green, 4 blue.
  float sixths = most == r   ? between(b, g)
                 : most == g ? sum(2.0F, between(r, b))
                             : sum(4.0F, between(g, r));
  sixths = sum(sixths, product(by, 6.0F));
  if (sixths < 0.0F) sixths = sum(sixths, 6.0F);
  if (sixths >= 6.0F) sixths = sum(sixths, -6.0F);
  const float whole = floorf(sixths);
  const float rest = sum(sixths, -whole);
  const float falling = sum(most, -product(spread, rest));
  const float rising = sum(least, product(spread, rest));
  switch (static_cast<std::uint32_t>(whole) % 6) {
    case 0:
      pixel = {{most, rising, least}};
      return;
    case 1:
      pixel = {{falling, most, least}};
      return;
    case 2:
      pixel = {{least, most, rising}};
      return;
    case 3:
      pixel = {{least, falling, most}};
      return;
    case 4:
      pixel = {{rising, least, most}};
      return;
    default:
      pixel = {{most, least, falling}};
  }
}

/// `field_transform::jitter`: brightness, contrast, saturation, hue, in this order.
struct color_jitter_operation {
  static constexpr auto option = &field_transform::jitter;
  static constexpr const char* name = "jitter";
  static constexpr std::uint32_t first_draw = 100;
  static constexpr std::uint32_t draws = 4;

  struct parameters {
    value_range brightness = {1.0, 1.0};  ///< factors
    value_range contrast = {1.0, 1.0};
    value_range saturation = {1.0, 1.0};
    value_range hue = {};  ///< added, in full circles
  };
  struct drawn {
    float brightness;
    float contrast;
    float saturation;
    float hue;
    float mean = 0.0F;  ///< the image's mean grey, if contrast is drawn
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

  FEEDLINE_HOST_DEVICE static drawn draw(const parameters& by, pixel_extents,
                                         std::uint32_t random_bits) noexcept {
    return {draw_in(by.brightness, random_bits, first_draw),
            draw_in(by.contrast, random_bits, first_draw + 1),
            draw_in(by.saturation, random_bits, first_draw + 2),
            draw_in(by.hue, random_bits, first_draw + 3)};
  }

  // Contrast is around the image's mean grey, after brightness.
  static bool needs_sum(const parameters& by) noexcept {
    return static_cast<float>(by.contrast.low) != 1.0F ||
           static_cast<float>(by.contrast.high) != 1.0F;
  }
  /// A pixel's share of the sum over its image: an integer, in units of 1/256, so that the sum is
  /// exact in any order.
  FEEDLINE_HOST_DEVICE static std::uint32_t share(const drawn& by, color pixel,
                                                  std::uint32_t channels) noexcept {
    blend_all(pixel, 0.0F, by.brightness, channels);
    return static_cast<std::uint32_t>(sum(product(grey_of(pixel, channels), 256.0F), 0.5F));
  }
  FEEDLINE_HOST_DEVICE static void set_sum(drawn& by, std::uint64_t shares,
                                           std::uint32_t pixels) noexcept {
    by.mean = quotient(static_cast<float>(shares), product(256.0F, static_cast<float>(pixels)));
  }

  FEEDLINE_HOST_DEVICE static void apply(const parameters&, const drawn& by, const pixel_place&,
                                         color& pixel, std::uint32_t& channels) noexcept {
    blend_all(pixel, 0.0F, by.brightness, channels);
    blend_all(pixel, by.mean, by.contrast, channels);
    if (channels == 1) return;
    blend_all(pixel, grey_of(pixel, channels), by.saturation, channels);
    if (by.hue != 0.0F) turn_hue(pixel, by.hue);
  }
};

}  // namespace feedline::detail
