#include "sampler/bijection.hpp"

#include <feedline/detail/splitmix64.hpp>

#include "detail/arithmetic.hpp"

#include <algorithm>
#include <bit>
#include <cassert>

namespace feedline::detail {
namespace {

constexpr std::size_t block_positions = 256;

/// Eight rounds pass every test we know from 2^7 values on. On a tiny domain a round has few
/// choices, so that all permutations become equally likely only after many.
constexpr std::size_t rounds_for(unsigned bits) noexcept {
  return bits < 8 ? 24 : 8;
}

/// The round function. The key comes between two multiplications: the first spreads the half over
/// 64 bits, the second makes each of the upper 32 depend on all of them.
[[gnu::always_inline]] constexpr std::uint64_t scramble(std::uint64_t half,
                                                        std::uint64_t key) noexcept {
  return (((half * 0xD6E8FEB86659FD93) ^ key) * golden_gamma) >> 32;
}

template <std::size_t Lanes>
[[gnu::always_inline]] inline void encipher_in_step(const feistel& by,
                                                    std::uint64_t* values) noexcept {
  std::array<std::uint64_t, Lanes> left;
  std::array<std::uint64_t, Lanes> right;
  for (std::size_t i = 0; i < Lanes; ++i) {
    left[i] = values[i] >> by.right_bits;
    right[i] = values[i] & by.right_mask;
  }
  for (std::size_t round = 0; round < by.rounds; round += 2) {
    const auto left_key = by.keys[round];
    const auto right_key = by.keys[round + 1];
    for (std::size_t i = 0; i < Lanes; ++i) left[i] ^= scramble(right[i], left_key) & by.left_mask;
    for (std::size_t i = 0; i < Lanes; ++i)
      right[i] ^= scramble(left[i], right_key) & by.right_mask;
  }
  for (std::size_t i = 0; i < Lanes; ++i) values[i] = left[i] << by.right_bits | right[i];
}

template <std::size_t Lanes>
[[gnu::always_inline]] inline void encipher_all(const feistel& by,
                                                std::span<std::uint64_t> values) noexcept {
  static_assert(max_encipher_lanes % Lanes == 0);
  assert(values.size() % Lanes == 0);
  for (std::size_t at = 0; at < values.size(); at += Lanes)
    encipher_in_step<Lanes>(by, values.data() + at);
}

// Lanes: as many as keep the processor's multipliers busy, and fit in its registers.

constexpr std::size_t lanes_anywhere = 8;

void encipher_anywhere(const feistel& by, std::span<std::uint64_t> values) noexcept {
  encipher_all<lanes_anywhere>(by, values);
}

#ifdef __x86_64__
constexpr std::size_t lanes_of_avx512 = 32;

__attribute__((target("avx512f,avx512vl,avx512dq"))) void encipher_avx512(
    const feistel& by, std::span<std::uint64_t> values) noexcept {
  encipher_all<lanes_of_avx512>(by, values);
}
#endif

}  // namespace

std::uint64_t feistel::decipher(std::uint64_t value) const noexcept {
  std::uint64_t left = value >> right_bits;
  std::uint64_t right = value & right_mask;
  for (std::size_t round = rounds; round != 0; round -= 2) {
    right ^= scramble(left, keys[round - 1]) & right_mask;
    left ^= scramble(right, keys[round - 2]) & left_mask;
  }
  return left << right_bits | right;
}

std::span<const encipher_version> encipher_versions() noexcept {
  static constexpr encipher_version anywhere{"any", lanes_anywhere, encipher_anywhere};
#ifdef __x86_64__
  static constexpr std::array all{encipher_version{"AVX-512", lanes_of_avx512, encipher_avx512},
                                  anywhere};
  static const bool has_avx512 =
      __builtin_cpu_supports("avx512dq") != 0 && __builtin_cpu_supports("avx512vl") != 0;
  return std::span{all}.subspan(has_avx512 ? 0 : 1);
#else
  return {&anywhere, 1};
#endif
}

bijection::bijection(std::uint64_t size, std::uint64_t seed, std::uint64_t epoch) noexcept
    : size_{size} {
  // At least a bit in each half.
  const auto bits =
      static_cast<unsigned>(std::max(2, static_cast<int>(std::bit_width(size - (size != 0)))));
  network_.right_bits = bits - bits / 2;
  network_.left_mask = (std::uint64_t{1} << (bits / 2)) - 1;
  network_.right_mask = (std::uint64_t{1} << network_.right_bits) - 1;
  network_.rounds = rounds_for(bits);

  // One seed's epochs start from different states, for the multiplier is odd.
  std::uint64_t state = mix(mix(seed + golden_gamma) + epoch * golden_gamma);
  for (std::size_t i = 0; i < network_.rounds; ++i) network_.keys[i] = mix(state += golden_gamma);
}

/// @param value_at The value to encipher for a place of `out`; may be what stands there.
template <class ValueAt>
void bijection::evaluate_block(ValueAt value_at, std::span<sample_index> out) const noexcept {
  static_assert(block_positions % max_encipher_lanes == 0);
  const encipher_version version = encipher_versions().front();
  std::array<std::uint64_t, block_positions> values;
  const auto encipher_first = [&](std::size_t count) {
    const std::size_t padded = round_up(count, version.lanes);
    std::fill(values.begin() + static_cast<std::ptrdiff_t>(count),
              values.begin() + static_cast<std::ptrdiff_t>(padded), 0);
    version.encipher(network_, std::span{values}.first(padded));
  };
  // Places of `out` whose value is still beyond the range. Collected without a branch: every place
  // is written down, and the count moves on only past those that stay.
  std::array<std::uint32_t, block_positions> beyond;
  std::size_t walking = 0;
  const auto settle = [&](std::size_t place, std::uint64_t value) {
    out[place] = sample_index{value};
    beyond[walking] = static_cast<std::uint32_t>(place);
    walking += value >= size_ ? 1 : 0;
  };

  for (std::size_t i = 0; i < out.size(); ++i) values[i] = value_at(i);
  encipher_first(out.size());
  for (std::size_t i = 0; i < out.size(); ++i) settle(i, values[i]);
  while (walking != 0) {
    const std::size_t count = walking;
    walking = 0;  // never overtakes `i`: what is kept was read before
    for (std::size_t i = 0; i < count; ++i) values[i] = out[beyond[i]].value;
    encipher_first(count);
    for (std::size_t i = 0; i < count; ++i) settle(beyond[i], values[i]);
  }
}

void bijection::evaluate(position first, std::span<sample_index> out) const noexcept {
  assert(first.value <= size_ && out.size() <= size_ - first.value);
  if (size_ == 1) {
    std::ranges::fill(out, sample_index{0});
    return;
  }
  for (std::size_t at = 0; at < out.size(); at += block_positions) {
    const std::uint64_t start = first.value + at;
    evaluate_block([start](std::size_t place) { return start + place; },
                   out.subspan(at, std::min(block_positions, out.size() - at)));
  }
}

void bijection::evaluate(std::span<sample_index> values) const noexcept {
  if (size_ <= 1) return;  // 0 is its own image
  for (std::size_t at = 0; at < values.size(); at += block_positions) {
    const auto block = values.subspan(at, std::min(block_positions, values.size() - at));
    evaluate_block([block](std::size_t place) { return block[place].value; }, block);
  }
}

std::uint64_t bijection::place_of(std::uint64_t image) const noexcept {
  assert(image < size_);
  if (size_ == 1) return 0;
  // The walk that led from the place to the image, backwards.
  do image = network_.decipher(image);
  while (image >= size_);
  return image;
}

}  // namespace feedline::detail
