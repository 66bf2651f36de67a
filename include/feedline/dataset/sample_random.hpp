#pragma once

#include <feedline/detail/splitmix64.hpp>
#include <feedline/export.hpp>

#include <cstdint>
#include <limits>

namespace feedline::detail {

/// What all random choices for a sample in an epoch hang on, on the device and on the CPU: a hash
/// of the three, so that they depend on nothing else.
[[nodiscard]] constexpr std::uint64_t sample_key(std::uint64_t seed, std::uint64_t epoch,
                                                 std::uint64_t sample) noexcept {
  return mix(mix(mix(seed + golden_gamma) + epoch * golden_gamma) + sample * golden_gamma);
}

}  // namespace feedline::detail

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// Random numbers for one sample in one epoch: counter-based, so that they are the same whichever
/// thread draws them, in whatever order samples are read.
///
///     feedline::sample_random random = context.random();
///     const std::uint64_t left = random.below(width - crop + 1);
///     const bool flipped = random.chance(0.5);
///
/// Draw n is splitmix64's output for (key + n), the key a hash of (seed, epoch, sample, stream):
/// the same numbers on every platform, kept across versions. It is a UniformRandomBitGenerator;
/// what the standard's distributions make of it differs between standard libraries, what the
/// functions below make of it does not. Not for secrets. One thread each; copies go on by
/// themselves.
class sample_random {
 public:
  using result_type = std::uint64_t;

  /// @param stream Numbers of their own for each: where two functions draw for the same sample, a
  ///               crop and a noise, each takes another stream, or both draw the same numbers.
  constexpr sample_random(std::uint64_t seed, std::uint64_t epoch, std::uint64_t sample,
                          std::uint64_t stream = 0) noexcept
      : key_{detail::mix(
            detail::mix(detail::sample_key(seed, epoch, sample) + detail::golden_gamma) +
            stream * detail::golden_gamma)} {}

  static constexpr result_type min() noexcept { return 0; }
  static constexpr result_type max() noexcept { return std::numeric_limits<result_type>::max(); }

  /// The next draw: 64 random bits.
  constexpr result_type operator()() noexcept { return at(drawn_++); }
  /// Draw `number`, from 0; what was drawn before makes no difference.
  [[nodiscard]] constexpr result_type at(std::uint64_t number) const noexcept {
    return detail::mix(key_ + (number + 1) * detail::golden_gamma);
  }
  /// Leaves draws out.
  constexpr void discard(std::uint64_t draws) noexcept { drawn_ += draws; }

  [[nodiscard]] constexpr std::uint64_t u64() noexcept { return (*this)(); }
  [[nodiscard]] constexpr std::uint32_t u32() noexcept {
    return static_cast<std::uint32_t>((*this)() >> 32);
  }

  /// 0 to `bound` - 1, each as likely as the others. @param bound At least 1; 0 is taken for 1.
  [[nodiscard]] constexpr std::uint64_t below(std::uint64_t bound) noexcept {
    if (bound <= 1) return 0;
    const std::uint64_t uneven = (0 - bound) % bound;  // 2^64 mod bound: so many draws are too many
    for (;;) {
      const std::uint64_t drawn = (*this)();
      if (drawn >= uneven) return drawn % bound;
    }
  }

  /// In [0, 1): a multiple of 2^-24.
  [[nodiscard]] constexpr float uniform() noexcept {
    return static_cast<float>((*this)() >> 40) * 0x1p-24F;
  }
  /// In [low, high), or `high` where rounding leads there.
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
