#include "sampler/feistel.hpp"

#include <feedline/detail/splitmix64.hpp>

#include <cassert>

namespace feedline::detail {
namespace {

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

struct version_list {
  version_list() noexcept {
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx512dq") != 0 && __builtin_cpu_supports("avx512vl") != 0)
      versions[count++] = {"AVX-512", lanes_of_avx512, encipher_avx512};
#endif
    versions[count++] = {"any", lanes_anywhere, encipher_anywhere};
  }

  std::array<encipher_version, 2> versions = {};
  std::size_t count = 0;
};

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
  static const version_list all;
  return std::span{all.versions}.first(all.count);
}

}  // namespace feedline::detail
