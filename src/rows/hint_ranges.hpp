#pragma once

#include <feedline/index.hpp>

#include "io/byte_file.hpp"

#include <span>
#include <vector>

namespace feedline::detail {

/// Asks a file for the bytes of samples.
/// @param range_of Takes a sample, which there may not be, and gives its `byte_range`; empty: none.
template <class RangeOf>
void hint_ranges(const byte_file& file, std::span<const sample_index> samples,
                 RangeOf range_of) noexcept try {
  thread_local std::vector<byte_range> ranges;  // ranges of this thread's last hint, kept to avoid
                                                // allocation
  ranges.clear();
  for (const sample_index sample : samples)
    if (const byte_range range = range_of(sample); range.begin != range.end)
      ranges.push_back(range);
  file.will_need(ranges);
} catch (...) {  // NOLINT(bugprone-empty-catch): short of memory; a hint may be dropped
}

}  // namespace feedline::detail
