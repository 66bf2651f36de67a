#pragma once

#include "io/random_file.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace feedline::detail {

/// How many consecutive rows are best read by one call: any number where they are dense; some 256 KiB where
/// what lies between them is on pages that would be read in any case; else 1.
/// @param stride From one row to the next, at least 1. @param row_bytes At least 1.
[[nodiscard]] std::size_t rows_per_read(std::uint64_t stride, std::size_t row_bytes) noexcept;

/// Reads rows that lie in a file at equal distances, by one call, one after the other into `out`.
/// @param offset Of the first. @param out Whole rows, at least one.
/// @throws as `random_file::read`.
void read_spread(const random_file& file, std::uint64_t offset, std::uint64_t stride,
                 std::size_t row_bytes, std::span<std::byte> out);

}  // namespace feedline::detail
