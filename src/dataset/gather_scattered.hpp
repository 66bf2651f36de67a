#pragma once

#include <cstddef>
#include <span>

namespace feedline::detail {

/// Copies rows that lie anywhere in memory, one after the other, as `gather_rows` does. @param rows Where
/// each begins; the place of one that is null is left as it is.
void gather_scattered(std::span<const std::byte* const> rows, std::size_t row_bytes,
                      std::byte* out) noexcept;

}  // namespace feedline::detail
