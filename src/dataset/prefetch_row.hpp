#pragma once

#include <cstddef>

namespace feedline::detail {

/// How many rows ahead to ask for: shuffled rows are no pattern that hardware could guess, and six
/// rows of a few hundred bytes are about as many lines as a core keeps under way.
inline constexpr std::size_t prefetch_distance = 6;

/// A longer row is found by the hardware's own prefetcher after its first lines.
inline constexpr std::size_t largest_prefetched_row_bytes = 4096;

/// Asks for all lines of a row that will be copied soon.
inline void prefetch_row(const std::byte* row, std::size_t row_bytes) noexcept {
  constexpr std::size_t cache_line_bytes = 64;
  for (std::size_t at = 0; at < row_bytes; at += cache_line_bytes) __builtin_prefetch(row + at);
  __builtin_prefetch(row + row_bytes - 1);  // a row that starts within a line ends in one more
}

}  // namespace feedline::detail
