#pragma once

#include <cstdint>

namespace digits {

/// Random numbers that are the same on every platform: SplitMix64 (Steele, Lea, Flood 2014) and
/// plain arithmetic, where the standard library's distributions may differ.
class random_stream {
 public:
  /// @param sequence Numbers one of many independent streams of the same seed.
  random_stream(std::uint64_t seed, std::uint64_t sequence) noexcept
      : state_{seed ^ mix(sequence * 2 + 1)} {}

  [[nodiscard]] std::uint64_t bits() noexcept { return mix(state_ += 0x9e3779b97f4a7c15ULL); }

  /// A number in [low, high).
  [[nodiscard]] double uniform(double low, double high) noexcept {
    return low + (high - low) * (static_cast<double>(bits() >> 11) * 0x1.0p-53);
  }

  /// A number less than n; n is small, so that the bias of the remainder is negligible.
  [[nodiscard]] int below(int n) noexcept {
    return static_cast<int>(bits() % static_cast<std::uint64_t>(n));
  }

  /// An approximately normal number with mean 0 and deviation 1, within ±3.5: the sum of four
  /// uniform numbers, without a call of libm.
  [[nodiscard]] double normal() noexcept {
    constexpr double width = 1.7320508075688772;  // each has variance 1/4 × 4
    double sum = 0.0;
    for (int i = 0; i < 4; ++i) sum += uniform(-0.5, 0.5);
    return sum * width;
  }

 private:
  [[nodiscard]] static std::uint64_t mix(std::uint64_t z) noexcept {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  }

  std::uint64_t state_;
};

}  // namespace digits
