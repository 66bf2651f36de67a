#pragma once

#include <feedline/dataset/sample_random.hpp>
#include <feedline/transform/augmentation.hpp>

#include "detail/host_device.hpp"
#include "detail/rounded.hpp"

#include <cmath>
#include <cstdint>

namespace feedline::detail {

/// Random bits for a sample's random transforms in an epoch: a hash of all three numbers, so that
/// they depend on nothing else.
[[nodiscard]] constexpr std::uint32_t sample_random_bits(std::uint64_t seed, std::uint64_t epoch,
                                                         std::uint64_t sample) noexcept {
  return static_cast<std::uint32_t>(sample_key(seed, epoch, sample) >> 32);
}

/// Number of the choice that a draw is for. An operation names its own: `first_draw` and `draws`.
enum class choice : std::uint32_t {
  crop_top = 1,
  crop_left = 2,
  flip = 3,
  first_window = 16,  ///< 40 draws of a random window
  first_mixing = 110  ///< 6 draws of `sample_mix`
};

/// A draw of 32 bits for one of a sample's choices: MurmurHash3's finalizer (Appleby) over the
/// random bits and the choice.
[[nodiscard]] FEEDLINE_HOST_DEVICE constexpr std::uint32_t draw(std::uint32_t random_bits,
                                                                choice of) noexcept {
  std::uint32_t h = random_bits + static_cast<std::uint32_t>(of) * 0x9E37'79B9U;
  h = (h ^ (h >> 16)) * 0x85EB'CA6BU;
  h = (h ^ (h >> 13)) * 0xC2B2'AE35U;
  return h ^ (h >> 16);
}

/// A draw is below this with the given probability, 0 to 1; with probability 1 every draw is.
[[nodiscard]] inline std::uint64_t draw_bound(double probability) noexcept {
  return static_cast<std::uint64_t>(std::llround(probability * 4294967296.0));  // × 2^32
}

/// A draw scaled to 0 … bound − 1; `bound` at least 1.
[[nodiscard]] FEEDLINE_HOST_DEVICE constexpr std::uint32_t draw_below(
    std::uint32_t random_bits, choice of, std::uint32_t bound) noexcept {
  return static_cast<std::uint32_t>((std::uint64_t{draw(random_bits, of)} * bound) >> 32);
}

/// A draw in a range of binary32.
[[nodiscard]] FEEDLINE_HOST_DEVICE inline float draw_in(const value_range& range,
                                                        std::uint32_t random_bits,
                                                        std::uint32_t number) noexcept {
  const float share = static_cast<float>(draw(random_bits, choice{number}) >> 8) * 0x1p-24F;
  const auto low = static_cast<float>(range.low);
  return sum(low, product(share, sum(static_cast<float>(range.high), -low)));
}

/// The range of the binary logarithms.
[[nodiscard]] inline value_range logarithms(const value_range& range) noexcept {
  return {std::log2(range.low), std::log2(range.high)};
}

/// Part of an image.
struct image_part {
  std::uint32_t top = 0;
  std::uint32_t left = 0;
  std::uint32_t height = 0;
  std::uint32_t width = 0;
};

/// Ranges from which the size of a part is drawn, and the numbers of the draws.
struct part_draws {
  value_range area;       ///< fraction of the image's area
  value_range log_ratio;  ///< binary logarithm of width over height
  std::uint32_t max_height;
  std::uint32_t max_width;
  std::uint32_t first_draw;  ///< number of the first draw; each try takes four
};

/// Draws a part of an image of height × width like torchvision's RandomResizedCrop and
/// RandomErasing: up to ten times, until it is neither empty nor too large. @return Whether a try
/// succeeded.
[[nodiscard]] FEEDLINE_HOST_DEVICE inline bool draw_part(const part_draws& from,
                                                         std::uint32_t height, std::uint32_t width,
                                                         std::uint32_t random_bits,
                                                         image_part& part) noexcept {
  const float pixels = product(static_cast<float>(height), static_cast<float>(width));
  for (std::uint32_t number = from.first_draw; number < from.first_draw + 40; number += 4) {
    const float area = product(pixels, draw_in(from.area, random_bits, number));
    const float ratio = power_of_two(draw_in(from.log_ratio, random_bits, number + 1));
    const float wide = floorf(sum(square_root(product(area, ratio)), 0.5F));
    const float high = floorf(sum(square_root(quotient(area, ratio)), 0.5F));
    if (!(wide >= 1 && wide <= static_cast<float>(from.max_width) && high >= 1 &&
          high <= static_cast<float>(from.max_height)))
      continue;
    part.height = static_cast<std::uint32_t>(high);
    part.width = static_cast<std::uint32_t>(wide);
    part.top = draw_below(random_bits, choice{number + 2}, height - part.height + 1);
    part.left = draw_below(random_bits, choice{number + 3}, width - part.width + 1);
    return true;
  }
  return false;
}

}  // namespace feedline::detail
