#include "sampler/bijection.hpp"

#include <feedline/detail/splitmix64.hpp>

#include "detail/arithmetic.hpp"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstring>

#ifdef __x86_64__
#include <immintrin.h>
#endif

namespace feedline::detail {
namespace {

/// Values that are enciphered at once, at most: a multiple of each version's lanes.
constexpr std::size_t block_values = 8 * max_encipher_lanes;

/// Eight rounds pass every test we know from 2^7 values on. On a tiny domain a round has few
/// choices, so that all permutations become equally likely only after many.
constexpr std::size_t rounds_for(unsigned bits) noexcept {
  return bits < 8 ? 24 : 8;
}

constexpr std::uint64_t half_multiplier = 0xD6E8'FEB8'6659'FD93;

/// The round function. The key comes between two multiplications: the first spreads the half over
/// 64 bits, the second makes each of the upper 32 depend on all of them.
[[gnu::always_inline]] constexpr std::uint64_t scramble(std::uint64_t half,
                                                        std::uint64_t key) noexcept {
  return (((half * half_multiplier) ^ key) * golden_gamma) >> 32;
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

// Number of lanes that keeps the processor's multipliers busy and fits in its registers.

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

/// With halves of 20 bits a round takes at most bits 32 to 51 of its products, and these depend on
/// the lower 52 bits of the factor: one instruction gives that much of a product, where a 64-bit
/// one takes three.
constexpr unsigned bits_of_ifma = 20;

using eight_values = std::uint64_t __attribute__((vector_size(64)));

/// Bits 0 to 51 of products.
[[gnu::target("avx512f,avx512ifma"), gnu::always_inline]] inline eight_values multiply_52(
    eight_values values, std::uint64_t by) noexcept {
  const eight_values all = by - eight_values{};
  return reinterpret_cast<eight_values>(_mm512_madd52lo_epu64(
      __m512i{}, reinterpret_cast<__m512i>(values), reinterpret_cast<__m512i>(all)));
}

[[gnu::target("avx512f,avx512ifma"), gnu::always_inline]] inline eight_values scramble_52(
    eight_values halves, std::uint64_t key) noexcept {
  return multiply_52(multiply_52(halves, half_multiplier) ^ key, golden_gamma) >> 32;
}

/// Its loops over vectors are told to be unrolled: with -O2 alone they are not, and halves go
/// through memory.
[[gnu::target("avx512f,avx512ifma")]] void encipher_ifma(const feistel& by,
                                                         std::span<std::uint64_t> values) noexcept {
  constexpr std::size_t vectors = lanes_of_avx512 / 8;
  std::array<eight_values, vectors> left;
  std::array<eight_values, vectors> right;
  for (std::size_t at = 0; at < values.size(); at += lanes_of_avx512) {
    std::memcpy(right.data(), &values[at], sizeof right);
#pragma GCC unroll 4
    for (std::size_t i = 0; i < vectors; ++i) {
      left[i] = right[i] >> by.right_bits;
      right[i] &= by.right_mask;
    }
    for (std::size_t round = 0; round < by.rounds; round += 2) {
#pragma GCC unroll 4
      for (std::size_t i = 0; i < vectors; ++i)
        left[i] ^= scramble_52(right[i], by.keys[round]) & by.left_mask;
#pragma GCC unroll 4
      for (std::size_t i = 0; i < vectors; ++i)
        right[i] ^= scramble_52(left[i], by.keys[round + 1]) & by.right_mask;
    }
#pragma GCC unroll 4
    for (std::size_t i = 0; i < vectors; ++i) right[i] |= left[i] << by.right_bits;
    std::memcpy(&values[at], right.data(), sizeof right);
  }
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
  static constexpr encipher_version anywhere{"any", lanes_anywhere, 32, encipher_anywhere};
#ifdef __x86_64__
  static constexpr std::array all{
      encipher_version{"AVX-512 IFMA", lanes_of_avx512, bits_of_ifma, encipher_ifma},
      encipher_version{"AVX-512", lanes_of_avx512, 32, encipher_avx512}, anywhere};
  static const std::size_t missing = [] {
    if (__builtin_cpu_supports("avx512dq") == 0 || __builtin_cpu_supports("avx512vl") == 0)
      return 2U;
    return __builtin_cpu_supports("avx512ifma") == 0 ? 1U : 0U;
  }();
  return std::span{all}.subspan(missing);
#else
  return {&anywhere, 1};
#endif
}

const encipher_version& encipher_version_for(const feistel& by) noexcept {
  return *std::ranges::find_if(encipher_versions(), [&](const encipher_version& version) {
    return by.right_bits <= version.max_half_bits;
  });
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

  // One seed's epochs start from different states, because the multiplier is odd.
  std::uint64_t state = mix(mix(seed + golden_gamma) + epoch * golden_gamma);
  for (std::size_t i = 0; i < network_.rounds; ++i) network_.keys[i] = mix(state += golden_gamma);
}

void bijection::evaluate(position first, std::span<sample_index> out) const noexcept {
  assert(first.value <= size_ && out.size() <= size_ - first.value);
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = sample_index{first.value + i};
  evaluate(out);
}

void bijection::evaluate(std::span<sample_index> values) const noexcept {
  if (size_ <= 1) return;  // 0 is its own image
  const encipher_version& version = encipher_version_for(network_);
  // In blocks: values that walk on, then those that begin. So all lanes have work until the last
  // values.
  std::array<std::uint64_t, block_values> block;
  std::array<std::size_t, block_values> places;  // in `values`, of those that walk on
  std::size_t walking = 0;
  for (std::size_t next = 0; walking != 0 || next < values.size();) {
    const std::size_t begin = std::min(block.size() - walking, values.size() - next);
    for (std::size_t i = 0; i < walking; ++i) block[i] = values[places[i]].value;
    for (std::size_t i = 0; i < begin; ++i) block[walking + i] = values[next + i].value;
    const std::size_t count = walking + begin;
    const std::size_t padded = round_up(count, version.lanes);
    std::fill(block.begin() + static_cast<std::ptrdiff_t>(count),
              block.begin() + static_cast<std::ptrdiff_t>(padded), 0);
    version.encipher(network_, std::span{block}.first(padded));
    // Without a branch: each index is noted, and the count advances only past those that walk on.
    std::size_t still = 0;
    const auto note = [&](std::size_t place, std::uint64_t value) {
      places[still] = place;
      still += value >= size_ ? 1 : 0;
    };
    for (std::size_t i = 0; i < walking; ++i) {
      values[places[i]] = sample_index{block[i]};
      note(places[i], block[i]);
    }
    for (std::size_t i = 0; i < begin; ++i) values[next + i] = sample_index{block[walking + i]};
    for (std::size_t i = 0; i < begin; ++i) note(next + i, block[walking + i]);
    next += begin;
    walking = still;
  }
}

std::uint64_t bijection::place_of(std::uint64_t image) const noexcept {
  assert(image < size_);
  if (size_ == 1) return 0;
  // The walk that led from the index to the image, backwards.
  do image = network_.decipher(image);
  while (image >= size_);
  return image;
}

}  // namespace feedline::detail
