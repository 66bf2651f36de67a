#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace feedline::detail {

/// Which rows of an array in host memory a device reads where they lie: those whose pages are all
/// the array's own. The array's first and last page may be shared with memory of others, which must
/// not be pinned: rows that touch those are copied. So are arrays of a few pages, whole.
struct rows_in_place {
  std::uint64_t first = 0;                ///< row
  std::uint64_t count = 0;                ///< 0: all are copied
  std::span<const std::byte> pages = {};  ///< whole ones, which hold these rows
};

/// @param rows        All samples' rows.
/// @param granularity `device_capabilities::map_granularity`.
[[nodiscard]] rows_in_place find_rows_in_place(std::span<const std::byte> rows,
                                               std::uint64_t samples,
                                               std::size_t granularity) noexcept;

}  // namespace feedline::detail
