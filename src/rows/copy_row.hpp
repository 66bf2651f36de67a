#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace feedline::detail {

inline constexpr std::size_t cache_line_bytes = 64;

/// How many rows ahead to ask for: shuffled rows are no pattern that hardware could guess, and six
/// rows of a few hundred bytes are about as many lines as a core keeps under way.
inline constexpr std::size_t prefetch_distance = 6;

/// A longer row is found by the hardware's own prefetcher after its first lines.
inline constexpr std::size_t largest_prefetched_row_bytes = 2048;

/// How far ahead of a copy the lines that it will write are asked for. Batches are written in order,
/// and yet the hardware's prefetcher is late: its patterns end with every page and every row. One
/// reader delivers 1.2 to 1.6 times as much so.
inline constexpr std::size_t write_ahead_bytes = 1024;

/// Asks for all lines of a row that will be copied soon.
inline void prefetch_row(const std::byte* row, std::size_t row_bytes) noexcept {
  for (std::size_t at = 0; at < row_bytes; at += cache_line_bytes) __builtin_prefetch(row + at);
  __builtin_prefetch(row + row_bytes - 1);  // a row that starts within a line ends in one more
}

/// Asks for the lines `write_ahead_bytes` behind those of `bytes` bytes that are written now. They may
/// lie behind the memory's end: asking is no access.
inline void prefetch_writes(const std::byte* out, std::size_t bytes) noexcept {
  const auto ahead = reinterpret_cast<std::uintptr_t>(out) + write_ahead_bytes;
  for (std::size_t at = 0; at < bytes; at += cache_line_bytes)
    // NOLINTNEXTLINE(performance-no-int-to-ptr)
    __builtin_prefetch(reinterpret_cast<const void*>(ahead + at), 1);
}

/// Copies a row; what will be written behind it is on its way when it is done.
inline void copy_row(std::byte* out, const std::byte* row, std::size_t bytes) noexcept {
  constexpr std::size_t piece_bytes = 1024;
  while (bytes > largest_prefetched_row_bytes) {
    prefetch_writes(out, piece_bytes);
    std::memcpy(out, row, piece_bytes);
    out += piece_bytes;
    row += piece_bytes;
    bytes -= piece_bytes;
  }
  prefetch_writes(out, bytes);
  std::memcpy(out, row, bytes);
}

}  // namespace feedline::detail
