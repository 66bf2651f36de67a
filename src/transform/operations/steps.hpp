#pragma once

#include "transform/operations/color_steps.hpp"
#include "transform/operations/draws.hpp"
#include "transform/operations/normal.hpp"
#include "transform/operations/pixel_map.hpp"

#include <cstdint>

namespace feedline::detail {

/// The pixels that an operation of steps needs before it changes one.
enum class steps_need : std::uint8_t {
  none,           ///< it adds no steps
  pixels,         ///< the pixel, or some pixels around it
  image,          ///< all of the image, for a sum or for counts
  neighbourhood,  ///< pixels far around it: steps are `wide_steps`
  images          ///< several images of the sample, and all of each: steps are `wide_steps`
};

/// A rectangle of the batch's image that becomes noise.
struct noise_part {
  image_part part = {};  ///< its height is 0 if there is none
  std::uint32_t key = 0;
  float mean[3] = {};
  float deviation[3] = {};
};

/// Steps on the pixels of one image: first they are moved, then their colours change.
struct step_chain {
  pixel_map map;
  color_steps colors;

  /// Forgets the sample before; tables stay as they are.
  FEEDLINE_HOST_DEVICE void clear() noexcept {
    map = {};
    colors.count = colors.tables = colors.sharpnesses = 0;
  }

  /// Whether a step needs all of the image before it changes a pixel.
  [[nodiscard]] FEEDLINE_HOST_DEVICE bool needs_image() const noexcept {
    return colors.next_of_image(0) < colors.count;
  }
  /// Whether pixels are made one by one from others at any position.
  [[nodiscard]] FEEDLINE_HOST_DEVICE bool needs_points() const noexcept {
    return map.any || colors.sharpnesses != 0;
  }
};

/// The steps that operations draw for a sample. After the chain a part becomes noise.
struct sample_steps : step_chain {
  noise_part noise;

  /// Forgets the sample before; tables stay as they are.
  FEEDLINE_HOST_DEVICE void clear() noexcept {
    step_chain::clear();
    noise.part = {};
  }

  /// @param width The batch's image's.
  FEEDLINE_HOST_DEVICE void add_noise(const pixel_place& at, std::uint32_t width,
                                      std::uint32_t channels, color& pixel) const noexcept {
    if (at.y - noise.part.top >= noise.part.height || at.x - noise.part.left >= noise.part.width)
      return;
    for (std::uint32_t c = 0; c < channels; ++c) {
      const std::uint32_t number = (at.y * width + at.x) * 3 + c;
      pixel.of[c] =
          sum(product(noise.deviation[c], normal(draw(noise.key, choice{number}))), noise.mean[c]);
    }
  }
};

/// A sample's pixel after its moves and the colour steps before `end`.
///
/// Sharpness needs the pixel's neighbours after the steps before it. They are computed again for
/// each pixel: a step is rare, and needs no memory.
/// @param base Returns the window's pixel at (y, x) of the batch's image, not yet moved.
template <std::uint32_t Depth, class Base>
[[nodiscard]] FEEDLINE_HOST_DEVICE color point_at(const step_chain& by, const Base& base,
                                                  pixel_extents image, std::uint32_t end,
                                                  std::uint32_t y, std::uint32_t x,
                                                  std::uint32_t& channels) noexcept {
  if constexpr (Depth == 0) {
    color pixel = by.map.any ? by.map.sampled(base, image, y, x) : base(y, x);
    by.colors.apply(0, end, pixel, channels);
    return pixel;
  } else {
    // Without a sharpness left, the pixel is its only neighbour.
    const std::uint32_t at = by.colors.last_sharpness_before(end);
    const bool blurs = at < end && y > 0 && x > 0 && y + 1 < image.height && x + 1 < image.width;
    const std::uint32_t reach = blurs ? 1 : 0;
    const std::uint32_t arrived = channels;
    color blurred{};
    color centre{};
    FEEDLINE_SHORT_LOOP
    for (std::uint32_t i = 0; i < (blurs ? 9U : 1U); ++i) {
      std::uint32_t own = arrived;
      const color other =
          point_at<Depth - 1>(by, base, image, at, y + i / 3 - reach, x + i % 3 - reach, own);
      const bool is_centre = !blurs || i == 4;
      if (is_centre) centre = other;
      channels = own;
      for (std::uint32_t c = 0; c < 3; ++c)
        blurred.of[c] = sum(blurred.of[c], product(is_centre ? 5.0F : 1.0F, other.of[c]));
    }
    if (blurs) sharpen(by.colors.at[at], blurred, centre);
    by.colors.apply(at, end, centre, channels);
    return centre;
  }
}

/// `point_at` with as many sharpness steps as the sample has. Most have none, which skips the loops
/// for neighbours.
template <class Base>
[[nodiscard]] FEEDLINE_HOST_DEVICE color sample_point(const step_chain& by, const Base& base,
                                                      pixel_extents image, std::uint32_t end,
                                                      std::uint32_t y, std::uint32_t x,
                                                      std::uint32_t& channels) noexcept {
  if (by.colors.sharpnesses == 0) return point_at<0>(by, base, image, end, y, x, channels);
  if (by.colors.sharpnesses == 1) return point_at<1>(by, base, image, end, y, x, channels);
  return point_at<color_steps::max_sharpnesses>(by, base, image, end, y, x, channels);
}

}  // namespace feedline::detail
