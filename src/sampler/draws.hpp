#pragma once

#include <feedline/detail/splitmix64.hpp>
#include <feedline/error.hpp>
#include <feedline/index.hpp>

#include "sampler/bijection.hpp"

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>

namespace feedline::detail {

/// For products of two 64-bit numbers.
__extension__ using u128 = unsigned __int128;

/// The key of an epoch's draws. Each use has its own seed: the user's, with the bits of a constant
/// flipped.
[[nodiscard]] constexpr std::uint64_t epoch_key(std::uint64_t seed, std::uint64_t epoch) noexcept {
  return mix(mix(seed) + epoch * golden_gamma);
}

/// Draw `number` of a key: 64 random bits, splitmix64's output for its counter.
[[nodiscard]] constexpr std::uint64_t draw(std::uint64_t key, std::uint64_t number) noexcept {
  return mix(key + (number + 1) * golden_gamma);
}

/// A draw as a number below `bound`: each as likely as the others, to within 2^-64.
[[nodiscard]] constexpr std::uint64_t scaled(std::uint64_t random_bits,
                                             std::uint64_t bound) noexcept {
  return static_cast<std::uint64_t>(u128{random_bits} * bound >> 64);
}

/// An endless sequence of 0 … size - 1: pass after pass of all of them, each in its own order.
/// @param size Not 0. @param first Index in the sequence of the first element of `out`.
inline void write_passes(std::uint64_t size, std::uint64_t seed, std::uint64_t first,
                         std::span<sample_index> out) noexcept {
  while (!out.empty()) {
    const std::uint64_t at = first % size;
    const auto run = out.first(std::min<std::uint64_t>(out.size(), size - at));
    bijection{size, seed, first / size}.evaluate(position{at}, run);
    out = out.subspan(run.size());
    first += run.size();
  }
}

/// @param who Begins the message: "weighted". @param what The things given for each sample:
/// "weights".
/// @throws usage_error if the dataset's number of samples differs from the sampler's.
inline void require_samples(const char* who, const char* what, std::uint64_t known,
                            std::uint64_t samples) {
  if (samples != known)
    throw usage_error{std::string{who} + ": there are " + std::to_string(known) + ' ' + what +
                      ", but the dataset has " + std::to_string(samples) +
                      " samples; give it those of this dataset"};
}

}  // namespace feedline::detail
