#pragma once

#include <feedline/error.hpp>
#include <feedline/index.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace feedline::detail {

/// Whether a run names samples of the dataset alone: one pass over the indices.
[[nodiscard]] inline bool all_in_range(std::span<const sample_index> samples,
                                       std::uint64_t size) noexcept {
  // The topmost bit tells: the difference has it where the index is larger, and an index may have
  // it only where the dataset is so large. No comparison, so that vectors of 64 bits need none.
  std::uint64_t suspect = 0;
  for (const sample_index sample : samples) suspect |= (size - 1 - sample.value) | sample.value;
  if (suspect >> 63 == 0) [[likely]]
    return true;
  return std::all_of(samples.begin(), samples.end(),
                     [size](sample_index sample) { return sample.value < size; });
}

/// Refuses a run that names a sample beyond the dataset, so that no caller's mistake can become a
/// read out of bounds.
/// @throws dataset_error naming the sample.
inline void require_in_range(std::span<const sample_index> samples, std::uint64_t size) {
  if (all_in_range(samples, size)) [[likely]]
    return;
  const sample_index largest = *std::max_element(samples.begin(), samples.end());
  throw dataset_error{{.path = {}, .field = {}, .sample = largest.value},
                      "there is no such sample: the dataset has " + std::to_string(size)};
}

/// The part that an index falls into, where parts follow each other.
/// @param ends End of each part, rising; no index falls into an empty part.
[[nodiscard]] inline std::size_t part_at(std::span<const std::uint64_t> ends,
                                         std::uint64_t index) noexcept {
  return static_cast<std::size_t>(std::ranges::upper_bound(ends, index) - ends.begin());
}

}  // namespace feedline::detail
