#pragma once

#include <feedline/dataset/sample_random.hpp>

#include "detail/host_device.hpp"

#include <cstdint>

namespace feedline::detail {

/// What a sample's random transforms draw from in an epoch: a hash of all three, so that it depends
/// on nothing else.
[[nodiscard]] constexpr std::uint32_t sample_random_bits(std::uint64_t seed, std::uint64_t epoch,
                                                         std::uint64_t sample) noexcept {
  return static_cast<std::uint32_t>(sample_key(seed, epoch, sample) >> 32);
}

/// Which choice a draw is for.
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

/// A draw scaled to 0 … bound − 1; `bound` at least 1.
[[nodiscard]] FEEDLINE_HOST_DEVICE constexpr std::uint32_t draw_below(
    std::uint32_t random_bits, choice of, std::uint32_t bound) noexcept {
  return static_cast<std::uint32_t>((std::uint64_t{draw(random_bits, of)} * bound) >> 32);
}

}  // namespace feedline::detail
