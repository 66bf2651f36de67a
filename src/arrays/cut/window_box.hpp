#pragma once

#include <feedline/dataset/window_block.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

namespace feedline::detail {

/// Elements that lie at equal distances in a chunk and in a row.
struct box_extents {
  std::span<const std::uint64_t> count;  ///< none is 0; at most `window_box::max_rank`
  std::uint64_t from;                    ///< byte of the chunk
  std::span<const std::ptrdiff_t> from_stride;
  std::uint64_t to;  ///< byte of the row
  std::span<const std::ptrdiff_t> to_stride;
  std::size_t element_bytes;  ///< 1, 2, 4 or 8
  std::size_t chunk_bytes;    ///< chunks begin at multiples of it
  std::size_t row_bytes;      ///< the same for rows
};

/// A box with the largest units, of the fewest dimensions.
[[nodiscard]] window_box make_window_box(const box_extents& what);
/// The same, of one value.
/// @param fill One element; then `from` and `from_stride` are not used.
[[nodiscard]] window_box make_fill_box(const box_extents& what, std::span<const std::byte> fill);

}  // namespace feedline::detail
