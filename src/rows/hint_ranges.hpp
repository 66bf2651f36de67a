#pragma once

#include <feedline/index.hpp>

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace feedline::detail {

/// Bytes [begin, end) of a file.
struct file_range {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

/// Asks the system for the bytes of samples, in the order of the file, joining near ranges.
/// @param file     A `random_file`; in tests, an object that records the calls.
/// @param range_of Takes a sample, which there may not be, and gives its `file_range`; empty: none.
template <class File, class RangeOf>
void hint_ranges(const File& file, std::span<const sample_index> samples, RangeOf range_of) noexcept
    try {
  // A gap between two ranges up to this size is read with them: one larger read is faster than two,
  // and rows in between will be wanted later in the epoch.
  constexpr std::uint64_t largest_gap_bytes = std::uint64_t{64} << 10;
  thread_local std::vector<file_range> ranges;  // ranges of this thread's last hint, kept to avoid
                                                // allocation
  ranges.clear();
  for (const sample_index sample : samples)
    if (const file_range range = range_of(sample); range.begin != range.end)
      ranges.push_back(range);
  std::ranges::sort(ranges, {}, &file_range::begin);
  for (std::size_t i = 0; i < ranges.size();) {
    file_range hint = ranges[i];
    for (++i; i < ranges.size() && ranges[i].begin <= hint.end + largest_gap_bytes; ++i)
      hint.end = std::max(hint.end, ranges[i].end);
    file.will_need(hint.begin, hint.end - hint.begin);
  }
} catch (...) {  // NOLINT(bugprone-empty-catch): short of memory; a hint may be dropped
}

}  // namespace feedline::detail
