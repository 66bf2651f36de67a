#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace feedline::detail {

using highway_key = std::array<std::uint64_t, 4>;

/// HighwayHash of 64 bits (J. Alakuijala, B. Cox, J. Wassenberg, "Fast keyed hash/pseudo-random
/// function using SIMD multiply and permute", 2016); by AVX2, if the processor has it.
[[nodiscard]] std::uint64_t highway_hash(const highway_key& key,
                                         std::span<const std::byte> bytes) noexcept;

/// The same without the processor's instructions for several words at once. For tests.
[[nodiscard]] std::uint64_t highway_hash_by_words(const highway_key& key,
                                                  std::span<const std::byte> bytes) noexcept;

}  // namespace feedline::detail
