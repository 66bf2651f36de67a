#pragma once

#include <feedline/detail/splitmix64.hpp>
#include <feedline/export.hpp>

#include <cstdint>
#include <limits>

namespace feedline::detail {

/// Key of all random choices for a sample in an epoch, on the device and on the CPU: a hash of the
/// three arguments, so that choices depend on nothing else.
[[nodiscard]] constexpr std::uint64_t sample_key(std::uint64_t seed, std::uint64_t epoch,
                                                 std::uint64_t sample) noexcept {
  return mix(mix(mix(seed + golden_gamma) + epoch * golden_gamma) + sample * golden_gamma);
}

}  // namespace feedline::detail

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// Random numbers for one sample in one epoch. They are counter-based, so they are the same on any
/// thread that draws them and for any order of reads.
///
///     feedline::sample_random random = context.random();
///     const std::uint64_t left = random.below(width - crop + 1);
///     const bool flipped = random.chance(0.5);
///
/// Draw n is splitmix64's output for (key + n), where key is a hash of (seed, epoch, sample,
/// stream). The numbers are the same on every platform and are kept across versions. The class is a
/// UniformRandomBitGenerator. Results of the standard library's distributions differ between
/// standard libraries; results of the functions below do not. Not for cryptography. Threads: one; a
/// copy draws independently.
class sample_random {
 public:
  using result_type = std::uint64_t;

  /// @param stream Selects independent numbers. If two functions draw for the same sample, such as
  /// a crop and a noise, give each its own stream, or both draw the same numbers.
  constexpr sample_random(std::uint64_t seed, std::uint64_t epoch, std::uint64_t sample,
                          std::uint64_t stream = 0) noexcept
      : key_{detail::mix(
            detail::mix(detail::sample_key(seed, epoch, sample) + detail::golden_gamma) +
            stream * detail::golden_gamma)} {}

  static constexpr result_type min() noexcept { return 0; }
  static constexpr result_type max() noexcept { return std::numeric_limits<result_type>::max(); }

  /// The next draw: 64 random bits.
  constexpr result_type operator()() noexcept { return at(drawn_++); }
  /// Draw `number`, from 0, independent of earlier draws.
  [[nodiscard]] constexpr result_type at(std::uint64_t number) const noexcept {
    return detail::mix(key_ + (number + 1) * detail::golden_gamma);
  }
  /// Skips draws.
  constexpr void discard(std::uint64_t draws) noexcept { drawn_ += draws; }

  [[nodiscard]] constexpr std::uint64_t u64() noexcept { return (*this)(); }
  [[nodiscard]] constexpr std::uint32_t u32() noexcept {
    return static_cast<std::uint32_t>((*this)() >> 32);
  }

  /// Uniform in 0 to `bound` - 1. @param bound At least 1; 0 is treated as 1.
  [[nodiscard]] constexpr std::uint64_t below(std::uint64_t bound) noexcept {
    if (bound <= 1) return 0;
    const std::uint64_t uneven = (0 - bound) % bound;  // 2^64 mod bound; reject this many
    for (;;) {
      const std::uint64_t drawn = (*this)();
      if (drawn >= uneven) return drawn % bound;
    }
  }

  /// Uniform in [0, 1): a multiple of 2^-24.
  [[nodiscard]] constexpr float uniform() noexcept {
    return static_cast<float>((*this)() >> 40) * 0x1p-24F;
  }
  /// Uniform in [low, high); may be `high` because of rounding.
  [[nodiscard]] constexpr float uniform(float low, float high) noexcept {
    return low + (high - low) * uniform();
  }

  /// True with this probability: never at 0, always at 1.
  [[nodiscard]] constexpr bool chance(double probability) noexcept {
    return static_cast<double>((*this)() >> 11) * 0x1p-53 < probability;
  }

 private:
  std::uint64_t key_;
  std::uint64_t drawn_ = 0;
};

}  // namespace FEEDLINE_ABI
}  // namespace feedline
