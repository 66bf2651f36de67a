#include "transform/augmentation.hpp"

#include "detail/text.hpp"
#include "device/sample_random_bits.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>

namespace feedline::detail {
namespace {

float_range logarithms(const value_range& range) {
  return {static_cast<float>(std::log2(range.low)), static_cast<float>(std::log2(range.high))};
}

float_range narrow(const value_range& range) {
  return {static_cast<float>(range.low), static_cast<float>(range.high)};
}

/// The fallback of torchvision's RandomResizedCrop: as much of the image as a ratio allows.
void set_else(image_augmentation& to, const image_extents& image, const value_range& ratio) {
  const auto height = static_cast<double>(image.height);
  const auto width = static_cast<double>(image.width);
  const auto whole = [](double extent, double most) {
    return static_cast<std::uint32_t>(std::clamp(std::round(extent), 1.0, most));
  };
  to.else_height = static_cast<std::uint32_t>(image.height);
  to.else_width = static_cast<std::uint32_t>(image.width);
  if (width / height < ratio.low) to.else_height = whole(width / ratio.low, height);
  if (width / height > ratio.high) to.else_width = whole(height * ratio.high, width);
}

void set_jitter(image_augmentation& to, const color_jitter& jitter) {
  const auto around_1 = [](double by) { return narrow({std::max(0.0, 1 - by), 1 + by}); };
  to.jitters = true;
  to.brightness = around_1(jitter.brightness);
  to.contrast = around_1(jitter.contrast);
  to.saturation = around_1(jitter.saturation);
  to.hue = narrow({-jitter.hue, jitter.hue});
}

void set_erasing(image_augmentation& to, const random_erasing& erasing) {
  to.erase_below = draw_bound(erasing.probability);
  to.erase_area = narrow(erasing.scale);
  // Ratios are width over height here.
  to.erase_log_ratio = logarithms({1 / erasing.ratio.high, 1 / erasing.ratio.low});
  to.erases_per_channel = erasing.value.size() > 1;
  for (std::size_t c = 0; c < erasing.value.size(); ++c)
    to.erase_value[c] = static_cast<float>(erasing.value[c]);
}

}  // namespace

void set_augmentation(field_conversion& conversion, const field_transform& transform,
                      const image_extents& image) {
  image_augmentation& to = conversion.augmentation;
  const auto becomes = [&](std::uint64_t height, std::uint64_t width) {
    to.resizes = true;
    conversion.to_height = static_cast<std::uint32_t>(height);
    conversion.to_width = static_cast<std::uint32_t>(width);
  };
  if (transform.resize) becomes(transform.resize->height, transform.resize->width);
  if (transform.resized_crop) {
    const random_resized_crop& crop = *transform.resized_crop;
    becomes(crop.height, crop.width);
    to.random_window = true;
    to.area = narrow(crop.scale);
    to.log_ratio = logarithms(crop.ratio);
    set_else(to, image, crop.ratio);
  }
  if (transform.jitter) set_jitter(to, *transform.jitter);
  if (transform.erasing) set_erasing(to, *transform.erasing);
}

std::string augmentation_text(const field_transform& transform) {
  const auto range = [](const value_range& of) {
    return ' ' + text_of(of.low) + " to " + text_of(of.high);
  };
  const auto extents = [](std::uint64_t height, std::uint64_t width) {
    return ' ' + std::to_string(height) + " x " + std::to_string(width);
  };
  std::string text;
  if (transform.resize)
    text += ", resize" + extents(transform.resize->height, transform.resize->width);
  if (transform.resized_crop) {
    const random_resized_crop& crop = *transform.resized_crop;
    text += ", resized_crop" + extents(crop.height, crop.width) + " scale" + range(crop.scale) +
            " ratio" + range(crop.ratio);
  }
  if (transform.jitter) {
    const color_jitter& jitter = *transform.jitter;
    text += ", jitter brightness " + text_of(jitter.brightness) + " contrast " +
            text_of(jitter.contrast) + " saturation " + text_of(jitter.saturation) + " hue " +
            text_of(jitter.hue);
  }
  if (transform.erasing) {
    const random_erasing& erasing = *transform.erasing;
    text += ", erasing " + text_of(erasing.probability) + " scale" + range(erasing.scale) +
            " ratio" + range(erasing.ratio);
    if (!erasing.value.empty()) text += " value";
    for (const double value : erasing.value) text += ' ' + text_of(value);
  }
  return text;
}

}  // namespace feedline::detail
