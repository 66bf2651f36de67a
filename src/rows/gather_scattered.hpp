#pragma once

#include <cstddef>
#include <span>

namespace feedline::detail {

/// Copies rows that lie anywhere in memory, as `gather_rows` does.
/// @param rows Where each begins.
void gather_scattered(std::span<const std::byte* const> rows, std::size_t row_bytes,
                      std::byte* out) noexcept;

/// The same to places that need not follow one another: row i to `out + places[i] × row_bytes`.
void gather_scattered(std::span<const std::byte* const> rows, std::span<const std::size_t> places,
                      std::size_t row_bytes, std::byte* out) noexcept;

}  // namespace feedline::detail
