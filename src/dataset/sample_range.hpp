#pragma once

#include <feedline/error.hpp>
#include <feedline/index.hpp>

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>

namespace feedline::detail {

/// Refuses a run that names a sample beyond the dataset: one pass over the indices alone, half a
/// nanosecond a sample, so that no caller's mistake can become a read out of bounds.
/// @throws dataset_error naming the sample.
inline void require_in_range(std::span<const sample_index> samples, std::uint64_t size) {
  std::uint64_t largest = 0;
  for (const sample_index sample : samples) largest = std::max(largest, sample.value);
  if (largest >= size && !samples.empty()) [[unlikely]]
    throw dataset_error{{.path = {}, .field = {}, .sample = largest},
                        "there is no such sample: the dataset has " + std::to_string(size)};
}

}  // namespace feedline::detail
