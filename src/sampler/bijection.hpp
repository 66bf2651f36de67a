#pragma once

#include <feedline/index.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace feedline::detail {

/// An alternating, unbalanced Feistel network over values of `left_bits + right_bits` bits.
struct feistel {
  static constexpr std::size_t max_rounds = 24;

  unsigned right_bits = 1;
  std::uint64_t left_mask = 1;
  std::uint64_t right_mask = 1;
  std::size_t rounds = 0;  ///< even
  std::array<std::uint64_t, max_rounds> keys = {};

  /// The value that is enciphered as this one.
  [[nodiscard]] std::uint64_t decipher(std::uint64_t value) const noexcept;
};

/// Enciphers values in place; their number is a multiple of a version's `lanes`.
using encipher_function = void (*)(const feistel& by, std::span<std::uint64_t> values) noexcept;

/// The same function, compiled for one kind of processor.
struct encipher_version {
  const char* processor;
  std::size_t lanes;       ///< values that are enciphered in step, so that their chains of
                           ///< multiplications overlap: it takes about as long for one as for all
  unsigned max_half_bits;  ///< networks with larger halves get other values
  encipher_function encipher;
};

/// The most that any version has.
inline constexpr std::size_t max_encipher_lanes = 32;

/// Those that this processor can run, the fastest first.
[[nodiscard]] std::span<const encipher_version> encipher_versions() noexcept;

/// The fastest of these that enciphers by such a network.
[[nodiscard]] const encipher_version& encipher_version_for(const feistel& by) noexcept;

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

  /// Replaces each value by its image; all are less than `size`, and may repeat.
  void evaluate(std::span<sample_index> values) const noexcept;

  /// The inverse: the position whose image is `image`, which is less than `size`.
  [[nodiscard]] std::uint64_t place_of(std::uint64_t image) const noexcept;

 private:
  std::uint64_t size_;
  feistel network_;
};

}  // namespace feedline::detail
