#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace feedline::detail {

/// The rows of an array in host memory that a device reads in place: those whose pages belong to
/// the array alone. The array's first and last page may be shared with other memory, which must not
/// be pinned: rows that touch those pages are copied. Arrays of few pages are copied whole.
struct rows_in_place {
  std::uint64_t first = 0;                ///< row
  std::uint64_t count = 0;                ///< 0: all are copied
  std::span<const std::byte> pages = {};  ///< whole pages, which hold these rows
};

/// @param rows        All samples' rows.
/// @param granularity `device_capabilities::map_granularity`.
[[nodiscard]] rows_in_place find_rows_in_place(std::span<const std::byte> rows,
                                               std::uint64_t samples,
                                               std::size_t granularity) noexcept;

}  // namespace feedline::detail
