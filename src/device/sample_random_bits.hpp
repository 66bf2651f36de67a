#pragma once

#include <feedline/backend/assembly.hpp>
#include <feedline/dataset/sample_random.hpp>

#include "detail/host_device.hpp"

#include <cmath>
#include <cstdint>

namespace feedline::detail {

/// Random bits for a sample's random transforms in an epoch: a hash of all three numbers, so that
/// they depend on nothing else.
[[nodiscard]] constexpr std::uint32_t sample_random_bits(std::uint64_t seed, std::uint64_t epoch,
                                                         std::uint64_t sample) noexcept {
  return static_cast<std::uint32_t>(sample_key(seed, epoch, sample) >> 32);
}

/// Number of the choice that a draw is for.
enum class choice : std::uint32_t { crop_top = 1, crop_left = 2, flip = 3 };

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

/// Position of a sample's window in its padded image, and whether it is flipped.
struct image_window {
  std::uint32_t top;
  std::uint32_t left;
  bool flipped;
};

[[nodiscard]] FEEDLINE_HOST_DEVICE inline image_window window_of(
    const field_conversion& conversion, std::uint32_t random_bits) noexcept {
  const std::uint32_t rows = conversion.height + 2 * conversion.padding - conversion.to_height;
  const std::uint32_t columns = conversion.width + 2 * conversion.padding - conversion.to_width;
  const bool flipped =
      conversion.flip_below != 0 && draw(random_bits, choice::flip) < conversion.flip_below;
  if (!conversion.random_crop) return {rows / 2, columns / 2, flipped};
  return {draw_below(random_bits, choice::crop_top, rows + 1),
          draw_below(random_bits, choice::crop_left, columns + 1), flipped};
}

}  // namespace feedline::detail
