#pragma once

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

/// Enciphers values in place, as many as a multiple of a version's `lanes`.
using encipher_function = void (*)(const feistel& by, std::span<std::uint64_t> values) noexcept;

/// The same function, compiled for one kind of processor.
struct encipher_version {
  const char* processor;
  std::size_t lanes;  ///< values that are enciphered in step, so that their chains of
                      ///< multiplications overlap: it takes about as long for one as for all
  encipher_function encipher;
};

/// The most that any version has.
inline constexpr std::size_t max_encipher_lanes = 32;

/// Those that this processor can run, the fastest first.
[[nodiscard]] std::span<const encipher_version> encipher_versions() noexcept;

}  // namespace feedline::detail
