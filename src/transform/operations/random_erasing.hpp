#pragma once

#include <feedline/transform/field_transform.hpp>

#include "transform/operations/check.hpp"
#include "transform/operations/draws.hpp"
#include "transform/operations/pixel.hpp"
#include "transform/operations/steps.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace feedline::detail {

/// `field_transform::erasing`: a rectangle of the batch's image gets one value, or noise.
struct random_erasing_operation {
  static constexpr auto option = &field_transform::erasing;
  static constexpr const char* name = "erasing";
  static constexpr std::uint32_t first_draw = 56;
  static constexpr std::uint32_t draws = 44;
  static constexpr std::size_t max_values = 32;

  struct parameters {
    std::uint64_t below = 0;       ///< a part is erased if a 32-bit draw is below this
    value_range area = {};         ///< the part's share of the image's area
    value_range log_ratio = {};    ///< binary logarithm of the part's width over its height
    bool per_channel = false;      ///< whether each channel has a value; else the first is for all
    float value[max_values] = {};  ///< mean values if it is noise
    bool noise = false;
    float deviation[3] = {};
  };
  struct drawn {
    image_part part;  ///< its height is 0 if nothing is erased
  };

  static void check(const random_erasing& options, const checked_field& field) {
    field.in_range("erasing.probability", options.probability, 0, 1);
    field.area("erasing.scale", options.scale);
    field.ratio("erasing.ratio", options.ratio);
    const std::size_t values = options.value.size();
    if (values > 1 && (values != field.channels || values > max_values))
      field.refuse(
          "erasing.value has " + std::to_string(values) + " values and the field is " +
              to_string(field.of),
          "say one for all channels, or one for each of up to " + std::to_string(max_values));
    for (const double value : options.value)
      if (!(std::abs(value) <= double{std::numeric_limits<float>::max()}))
        field.refuse("erasing.value is " + text_of(value), "say finite numbers, of a float32");
    if (!options.noise) return;
    field.colors("erasing.noise");
    if (values > 0)
      field.refuse("erasing.value and erasing.noise are set", "erase by values or by noise");
  }

  static std::string text(const random_erasing& options) {
    std::string text = "erasing " + text_of(options.probability) + " scale" +
                       range_text(options.scale) + " ratio" + range_text(options.ratio);
    if (!options.value.empty()) text += " value";
    for (const double value : options.value) text += ' ' + text_of(value);
    if (options.noise) text += " noise";
    return text;
  }

  static std::optional<parameters> plan(const random_erasing& options,
                                        const field_transform& transform) {
    parameters to;
    to.below = draw_bound(options.probability);
    if (to.below == 0) return std::nullopt;
    to.area = options.scale;
    to.log_ratio = logarithms({1 / options.ratio.high, 1 / options.ratio.low});
    to.per_channel = options.value.size() > 1;
    for (std::size_t c = 0; c < options.value.size(); ++c)
      to.value[c] = static_cast<float>(options.value[c]);
    if (options.noise) set_noise(to, transform);
    return to;
  }

  static steps_need needs(const parameters& by) noexcept {
    return by.noise ? steps_need::pixels : steps_need::none;
  }

  FEEDLINE_HOST_DEVICE static drawn draw(const parameters& by, pixel_extents image,
                                         std::uint32_t random_bits) noexcept {
    return by.noise ? drawn{} : drawn{part_of(by, image, random_bits)};
  }
  FEEDLINE_HOST_DEVICE static void add_steps(const parameters& by, pixel_extents image,
                                             std::uint32_t random_bits,
                                             sample_steps& steps) noexcept {
    if (!by.noise) return;
    steps.noise.part = part_of(by, image, random_bits);
    steps.noise.key = detail::draw(random_bits, choice{first_draw + 1});
    for (std::uint32_t c = 0; c < 3; ++c) {
      steps.noise.mean[c] = by.value[c];
      steps.noise.deviation[c] = by.deviation[c];
    }
  }

  FEEDLINE_HOST_DEVICE static void apply(const parameters& by, const drawn& of,
                                         const pixel_place& at, color& pixel,
                                         std::uint32_t& channels) noexcept {
    if (at.y - of.part.top >= of.part.height || at.x - of.part.left >= of.part.width) return;
    for (std::uint32_t c = 0; c < 3; ++c)
      if (c < channels) pixel.of[c] = by.value[by.per_channel ? at.first + c : 0];
  }

 private:
  /// The part is smaller than the image, like torchvision's.
  FEEDLINE_HOST_DEVICE static image_part part_of(const parameters& by, pixel_extents image,
                                                 std::uint32_t random_bits) noexcept {
    image_part part{};
    if (detail::draw(random_bits, choice{first_draw}) >= by.below) return part;
    const part_draws from{by.area, by.log_ratio, image.height - 1, image.width - 1, first_draw + 4};
    (void)draw_part(from, image.height, image.width, random_bits, part);
    return part;
  }

  /// Noise before `scale`, `mean` and `stddev` that is normal after them.
  static void set_noise(parameters& to, const field_transform& transform) {
    to.noise = true;
    const auto of_channel = [](const std::vector<double>& values, std::size_t c, double if_none) {
      return values.empty() ? if_none : values[std::min(c, values.size() - 1)];
    };
    for (std::size_t c = 0; c < 3 && transform.scale != 0; ++c) {
      to.value[c] = static_cast<float>(of_channel(transform.mean, c, 0.0) / transform.scale);
      to.deviation[c] = static_cast<float>(of_channel(transform.stddev, c, 1.0) / transform.scale);
    }
  }
};

}  // namespace feedline::detail
