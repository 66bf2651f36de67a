#pragma once

#include <feedline/index.hpp>

#include <cstddef>
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
void gather_rows(strided_rows rows, std::span<const sample_index> samples, std::byte* out) noexcept;

/// Of a dense array.
inline void gather_rows(const std::byte* rows, std::size_t row_bytes,
                        std::span<const sample_index> samples, std::byte* out) noexcept {
  gather_rows({rows, row_bytes, row_bytes}, samples, out);
}

/// As `gather_rows`, with the bytes of each element reversed on the way.
/// @param element_bytes 2, 4 or 8, a divisor of the row's; or 1, which reverses nothing.
void gather_swapped_rows(strided_rows rows, std::size_t element_bytes,
                         std::span<const sample_index> samples, std::byte* out) noexcept;

}  // namespace feedline::detail
