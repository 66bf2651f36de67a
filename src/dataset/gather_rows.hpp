#pragma once

#include <feedline/index.hpp>

#include <cstddef>
#include <span>

namespace feedline::detail {

/// Copies rows of a dense array in memory, in the order asked for, one after the other: the
/// library's hottest loop. Knows nothing of bounds: every sample must be in the array.
void gather_rows(const std::byte* rows, std::size_t row_bytes,
                 std::span<const sample_index> samples, std::byte* out) noexcept;

}  // namespace feedline::detail
