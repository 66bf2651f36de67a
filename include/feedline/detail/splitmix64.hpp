#pragma once

#include <cstdint>

namespace feedline::detail {

/// splitmix64 (G. Steele, D. Lea, C. Flood, "Fast Splittable Pseudorandom Number Generators",
/// OOPSLA 2014). `golden_gamma` is its increment, 2^64 divided by the golden ratio, odd. `mix` is
/// its output function, a bijection. Sample orders and random choices that are promised never to
/// change are built on these two.
inline constexpr std::uint64_t golden_gamma = 0x9E37'79B9'7F4A'7C15;

[[nodiscard]] constexpr std::uint64_t mix(std::uint64_t z) noexcept {
  z = (z ^ (z >> 30)) * 0xBF58'476D'1CE4'E5B9;
  z = (z ^ (z >> 27)) * 0x94D0'49BB'1331'11EB;
  return z ^ (z >> 31);
}

}  // namespace feedline::detail
