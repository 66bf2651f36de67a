#pragma once

#include <feedline/index.hpp>

#include <cstdint>
#include <span>

namespace feedline {

/// Every sample once, in an order drawn anew for each epoch by a seeded bijection; O(1) memory.
///
/// The order depends on (seed, epoch, number of samples) alone. It is the same on every platform
/// and is kept across versions of feedline: a change of it would be a major version. Two epochs'
/// orders differ; the same epoch's never.
struct shuffle {
  std::uint64_t seed = 0;

  [[nodiscard]] std::uint64_t size(std::uint64_t samples) const noexcept { return samples; }
  void indices(std::uint64_t samples, std::uint64_t epoch, position first,
               std::span<sample_index> out) const noexcept;
};

}  // namespace feedline
