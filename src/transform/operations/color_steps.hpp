#pragma once

#include "transform/operations/color.hpp"
#include "transform/operations/pixel.hpp"

#include <cmath>
#include <cstdint>

namespace feedline::detail {

enum class step_kind : std::uint8_t {
  round,       ///< to the nearest byte
  brightness,  ///< with a factor, like the next two; color_jitter counts on this order
  contrast,    ///< needs the image's mean grey
  saturation,
  hue,        ///< rotated, in full circles
  grayscale,  ///< to 3 or 1 channels
  invert,
  posterize,     ///< to a number of bits
  solarize,      ///< from a threshold on
  autocontrast,  ///< needs the image's counts of values, like the next one
  equalize,
  sharpness  ///< with a factor; needs a pixel's neighbours
};

/// A change of colours, drawn for a sample.
struct color_step {
  step_kind kind;
  bool whole;          ///< results are cut to whole numbers, as torchvision's are for bytes
  std::uint8_t table;  ///< autocontrast and equalize: number of the table of new values
  float value;         ///< factor, fraction, channels, bits or threshold
  float mean;          ///< contrast: the image's mean grey

  [[nodiscard]] FEEDLINE_HOST_DEVICE bool needs_counts() const noexcept {
    return kind == step_kind::autocontrast || kind == step_kind::equalize;
  }
  [[nodiscard]] FEEDLINE_HOST_DEVICE bool needs_image() const noexcept {
    return kind == step_kind::contrast || needs_counts();
  }
};

/// A pixel's share of the sum for contrast: an integer, in units of 1/256, so that the sum is exact
/// in any order.
[[nodiscard]] FEEDLINE_HOST_DEVICE inline std::uint32_t grey_share(
    const color_step& step, const color& pixel, std::uint32_t channels) noexcept {
  const float grey = grey_of(pixel, channels);
  return static_cast<std::uint32_t>(sum(product(step.whole ? floorf(grey) : grey, 256.0F), 0.5F));
}

/// @param blurred Sum of the neighbours, and 5 times the pixel. @param pixel The pixel, changed.
FEEDLINE_HOST_DEVICE inline void sharpen(const color_step& step, const color& blurred,
                                         color& pixel) noexcept {
  for (std::uint32_t c = 0; c < 3; ++c) {
    float other = quotient(blurred.of[c], 13.0F);
    if (step.whole) other = rounded(other);
    pixel.of[c] = blended(pixel.of[c], other, step.value);
  }
}

/// The changes of a sample's colours, in their order.
struct color_steps {
  static constexpr std::uint32_t max_steps = 16;
  static constexpr std::uint32_t max_tables = 5;
  static constexpr std::uint32_t max_sharpnesses = 4;

  std::uint32_t count = 0;
  std::uint32_t tables = 0;
  std::uint32_t sharpnesses = 0;
  color_step at[max_steps];                ///< `count` of them
  std::uint8_t table[max_tables][3][256];  ///< new values, made by `set_table`

  FEEDLINE_HOST_DEVICE void add(step_kind kind, float value = 0.0F, bool whole = false) noexcept {
    color_step& step = at[count++];
    step = {kind, whole, static_cast<std::uint8_t>(tables), value, 0.0F};
    if (step.needs_counts()) ++tables;
    if (kind == step_kind::sharpness) ++sharpnesses;
  }

  /// Index of the first step from `first` on that needs the image; `count` if there is none.
  [[nodiscard]] FEEDLINE_HOST_DEVICE std::uint32_t next_of_image(
      std::uint32_t first) const noexcept {
    while (first < count && !at[first].needs_image()) ++first;
    return first;
  }
  /// Index of the last sharpness before `end`; `end` if there is none.
  [[nodiscard]] FEEDLINE_HOST_DEVICE std::uint32_t last_sharpness_before(
      std::uint32_t end) const noexcept {
    if (sharpnesses == 0) return end;
    for (std::uint32_t i = end; i > 0; --i)
      if (at[i - 1].kind == step_kind::sharpness) return i - 1;
    return end;
  }

  FEEDLINE_HOST_DEVICE void set_sum(std::uint32_t step, std::uint64_t shares,
                                    std::uint32_t pixels) noexcept {
    at[step].mean =
        quotient(static_cast<float>(shares), product(256.0F, static_cast<float>(pixels)));
  }

  /// Makes a channel's table from the counts of its bytes, like torchvision's `autocontrast` and
  /// `equalize`.
  FEEDLINE_HOST_DEVICE void set_table(std::uint32_t step, std::uint32_t channel,
                                      const std::uint32_t (&counts)[256],
                                      std::uint32_t pixels) noexcept {
    std::uint32_t least = 0;
    std::uint32_t most = 255;
    while (least < 255 && counts[least] == 0) ++least;
    while (most > 0 && counts[most] == 0) --most;
    const bool equalizes = at[step].kind == step_kind::equalize;
    const std::uint32_t size = (pixels - counts[most]) / 255;  // values that share a new one
    const bool changes = equalizes ? size != 0 : least < most;
    const float stretch = product(static_cast<float>(most - least), 1.0F / 255.0F);
    std::uint32_t below = 0;  // values below this one
    std::uint8_t* const to = table[at[step].table][channel];
    for (std::uint32_t value = 0; value < 256; below += counts[value++]) {
      std::uint32_t made = value;
      if (changes && equalizes) {
        made = value == 0 ? 0 : (below + size / 2) / size;
      } else if (changes) {
        made =
            value < least
                ? 0
                : static_cast<std::uint32_t>(quotient(static_cast<float>(value - least), stretch));
      }
      to[value] = static_cast<std::uint8_t>(made < 255 ? made : 255);
    }
  }

  /// Applies the steps from `first` to before `end`, except sharpness, which `point_at` applies.
  FEEDLINE_HOST_DEVICE void apply(std::uint32_t first, std::uint32_t end, color& pixel,
                                  std::uint32_t& channels) const noexcept {
    FEEDLINE_SHORT_LOOP
    for (std::uint32_t i = first; i < end; ++i) {
      apply(at[i], pixel, channels);
      if (at[i].whole)
        for (float& value : pixel.of) value = floorf(value);
    }
  }

 private:
  FEEDLINE_HOST_DEVICE void apply(const color_step& step, color& pixel,
                                  std::uint32_t& channels) const noexcept {
    const auto each = [&](const auto& change) {
      for (std::uint32_t c = 0; c < 3; ++c) pixel.of[c] = change(pixel.of[c], c);
    };
    switch (step.kind) {
      case step_kind::round:
        return each([](float value, std::uint32_t) { return static_cast<float>(byte_of(value)); });
      case step_kind::brightness:
        return each([&](float value, std::uint32_t) { return blended(value, 0.0F, step.value); });
      case step_kind::contrast:
        return each(
            [&](float value, std::uint32_t) { return blended(value, step.mean, step.value); });
      case step_kind::saturation: {
        const float exact = grey_of(pixel, channels);
        const float grey = step.whole ? floorf(exact) : exact;
        if (channels == 1) return;
        return each([&](float value, std::uint32_t) { return blended(value, grey, step.value); });
      }
      case step_kind::hue:
        if (channels == 1) return;
        return turn_hue(pixel, step.value);
      case step_kind::grayscale: {
        const float grey = grey_of(pixel, channels);
        channels = static_cast<std::uint32_t>(step.value);
        return each([&](float, std::uint32_t) { return grey; });
      }
      case step_kind::invert:
        return each(
            [](float value, std::uint32_t) { return static_cast<float>(255 - byte_of(value)); });
      case step_kind::posterize: {
        const std::uint32_t kept = ~(0xFFU >> static_cast<std::uint32_t>(step.value));
        return each(
            [&](float value, std::uint32_t) { return static_cast<float>(byte_of(value) & kept); });
      }
      case step_kind::solarize:
        return each([&](float value, std::uint32_t) {
          const std::uint32_t byte = byte_of(value);
          return static_cast<float>(static_cast<float>(byte) >= step.value ? 255 - byte : byte);
        });
      case step_kind::autocontrast:
      case step_kind::equalize:
        return each([&](float value, std::uint32_t c) {
          return static_cast<float>(table[step.table][c < channels ? c : 0][byte_of(value)]);
        });
      case step_kind::sharpness:
        return;
    }
  }
};

}  // namespace feedline::detail
