#pragma once

#include <feedline/index.hpp>

#include "sampler/feistel.hpp"

#include <cstdint>
#include <span>

namespace feedline::detail {

/// A pseudo-random permutation of 0 … size - 1, drawn by (seed, epoch), that is computed a position
/// at a time and stores nothing of the order.
///
/// An alternating, unbalanced Feistel network over just enough bits to count to `size` (S. Lucks,
/// "Faster Luby-Rackoff Ciphers", FSE 1996); a value beyond the range is enciphered again until it
/// falls inside ("cycle walking": J. Black, P. Rogaway, "Ciphers with Arbitrary Finite Domains",
/// CT-RSA 2002), which takes two evaluations on average at worst. The use for shuffling follows
/// R. Mitchell, D. Stokes, E. Frank, G. Holmes, "Bandwidth-Optimal Random Shuffling for GPUs", ACM
/// TOPC 2022. Round keys are a splitmix64 sequence. Not a cipher: it hides nothing.
///
/// All its constants are part of the promise that an order never changes.
class bijection {
 public:
  /// @param size Any, 0 included. `seed` and `epoch` in other roles give other permutations.
  bijection(std::uint64_t size, std::uint64_t seed, std::uint64_t epoch) noexcept;

  /// Writes the images of `first`, `first + 1`, … into `out`; all of them less than `size`.
  void evaluate(position first, std::span<sample_index> out) const noexcept;

  /// Puts its image in the place of each value; all are less than `size`, and may repeat.
  void evaluate(std::span<sample_index> values) const noexcept;

  /// The inverse: the position whose image is `image`, which is less than `size`.
  [[nodiscard]] std::uint64_t place_of(std::uint64_t image) const noexcept;

 private:
  template <class ValueAt>
  void evaluate_block(ValueAt value_at, std::span<sample_index> out) const noexcept;

  std::uint64_t size_;
  feistel network_;
};

}  // namespace feedline::detail
