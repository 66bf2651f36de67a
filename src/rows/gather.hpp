#pragma once

#include <feedline/index.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace feedline::detail {

/// Rows that lie in memory at equal distances: row i at `first + i × stride`.
struct strided_rows {
  const std::byte* first;
  std::size_t row_bytes;
  std::size_t stride;  ///< in bytes; `row_bytes` where the rows are dense
};

/// Copies rows, in the order asked for, one after the other: the library's hottest loop. Knows
/// nothing of bounds: every sample must be there.
/// @param swapped_bytes Size of elements whose bytes are reversed during the copy: 2, 4 or 8, a
/// divisor of the row's; or 1, which reverses nothing.
void gather_rows(strided_rows rows, std::span<const sample_index> samples, std::byte* out,
                 std::size_t swapped_bytes = 1) noexcept;

/// The same for a dense array.
inline void gather_rows(const std::byte* rows, std::size_t row_bytes,
                        std::span<const sample_index> samples, std::byte* out) noexcept {
  gather_rows({rows, row_bytes, row_bytes}, samples, out);
}

/// Where rows go that are laid down in batches: one after the other within a batch.
struct rows_in_batches {
  std::byte* first;          ///< row 0 of the first batch
  std::uint64_t batch_rows;  ///< rows of a batch
  std::size_t batch_stride;  ///< in bytes, from a batch's row 0 to the next one's
};

/// Same as `gather_rows`, across batches: rows of the next batch are in flight while the last of
/// this one are copied. @param begin Row of the first batch that the first sample becomes.
void gather_into_batches(const std::byte* rows, std::size_t row_bytes,
                         std::span<const sample_index> samples, rows_in_batches out,
                         std::uint64_t begin) noexcept;

/// Copies rows that lie anywhere in memory, as `gather_rows` does: row i to `out + places[i] ×
/// row_bytes`. @param rows Where each begins.
void gather_scattered(std::span<const std::byte* const> rows, std::span<const std::size_t> places,
                      std::size_t row_bytes, std::byte* out) noexcept;

/// Copies elements that lie at equal distances, one after the other. Neither side need be aligned.
/// @param stride In bytes; 0 repeats one element.
void copy_spread(const std::byte* from, std::size_t stride, std::size_t count,
                 std::size_t element_bytes, std::byte* out) noexcept;

/// Fills memory with one element, repeated; needs no extra memory, however much is filled.
/// @param element Not empty. @param out Whole elements.
inline void repeat_element(std::span<const std::byte> element, std::span<std::byte> out) noexcept {
  constexpr std::size_t copied_bytes = 4096;  // at once, which stay in the nearest cache
  if (out.empty()) return;
  std::memcpy(out.data(), element.data(), element.size());
  std::size_t done = element.size();
  while (done < out.size()) {
    // The part copied from the front consists of whole elements.
    const std::size_t most =
        std::max(copied_bytes / element.size(), std::size_t{1}) * element.size();
    const std::size_t bytes = std::min({done, most, out.size() - done});
    std::memcpy(out.data() + done, out.data(), bytes);
    done += bytes;
  }
}

/// The largest row that is asked for whole: a longer one is found by the hardware's own prefetcher
/// after its first lines.
inline constexpr std::size_t largest_prefetched_row_bytes = 2048;

inline constexpr std::size_t cache_line_bytes = 64;

/// Prefetches the lines after the `bytes` bytes that are written now. They may lie past the
/// memory's end: a prefetch is no access.
inline void prefetch_writes(const std::byte* out, std::size_t bytes) noexcept {
  // Batches are written in order, and yet the hardware's prefetcher is late: its patterns end with
  // every page and every row. One reader delivers 1.2 to 1.6 times as much so.
  constexpr std::size_t write_ahead_bytes = 1024;
  const auto ahead = reinterpret_cast<std::uintptr_t>(out) + write_ahead_bytes;
  for (std::size_t at = 0; at < bytes; at += cache_line_bytes)
    // NOLINTNEXTLINE(performance-no-int-to-ptr)
    __builtin_prefetch(reinterpret_cast<const void*>(ahead + at), 1);
}

/// Copies a row; unless it is very long, the memory to be written next is prefetched meanwhile. For
/// long rows the C library does not even read the lines that it overwrites.
inline void copy_row(std::byte* out, const std::byte* row, std::size_t bytes) noexcept {
  constexpr std::size_t piece_bytes = 1024;
  constexpr std::size_t long_row_bytes = 16 << 10;
  if (bytes >= long_row_bytes) {
    std::memcpy(out, row, bytes);
    return;
  }
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
