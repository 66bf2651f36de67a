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

/// How many values are enciphered in step at least, so that their chains of multiplications overlap.
inline constexpr std::size_t encipher_lanes = 8;

/// Enciphers values in place. @param values A multiple of `encipher_lanes` of them.
using encipher_function = void (*)(const feistel& by, std::span<std::uint64_t> values) noexcept;

/// The same function, compiled for one kind of processor.
struct encipher_version {
  const char* processor;
  encipher_function encipher;
};

/// Those that this processor can run, the fastest first.
[[nodiscard]] std::span<const encipher_version> encipher_versions() noexcept;

}  // namespace feedline::detail
