#pragma once

#include <feedline/backend/assembly.hpp>

#include "detail/divider.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>

namespace feedline::detail {

/// The most bytes that a thread loads or stores at once.
inline constexpr std::size_t widest_vector = 16;

/// The largest power of two that divides all values that were or-ed together, up to a vector's
/// bytes.
inline std::size_t common_alignment(std::size_t ored) noexcept {
  const std::size_t all = ored | widest_vector;
  return all & (~all + 1);
}
inline std::size_t address(const void* memory) noexcept {
  return reinterpret_cast<std::uintptr_t>(memory);
}
/// Alignment of the dataset's rows, cached and arrived.
inline std::size_t source_alignment(const assembly& work, const field_assembly& field) noexcept {
  return common_alignment(address(field.cached) | address(work.copy_destination) | field.row_bytes |
                          field.cached_distance());
}
/// Alignment of the batch's rows.
inline std::size_t target_alignment(const assembly& work, const field_assembly& field) noexcept {
  return common_alignment(address(work.slot) | field.to_offset | work.batch_bytes |
                          field.to_row_bytes);
}

inline constexpr std::uint32_t warp_threads = 32;

/// Shared memory in which a warp holds a tile's source: 48 KiB a block, the most that needs no
/// opt-in.
inline constexpr std::uint32_t tile_bytes = 6144;
/// The same for images of three channels of bytes whose channels are last in the batch: after the
/// source come the three vectors that each thread makes at once.
inline constexpr std::uint32_t rgb_tile_bytes =
    tile_bytes - 3 * warp_threads * std::uint32_t{widest_vector};
/// Numbers of pixels that a thread makes together. The first one is used for which lines can be
/// divided into groups whose values are whole vectors; if there is none, the last one is used.
inline constexpr std::uint32_t group_pixels[] = {8, 4, 1};

/// How images of the batch are cut into tiles whose source fits into a warp's shared memory. There
/// each line of each plane has the same number of vectors of 16 bytes, wherever it begins.
struct tile_shape {
  divider lines;            ///< lines of a tile
  divider vectors;          ///< vectors of a line's source, which may begin anywhere in the first
  divider groups;           ///< groups of `pixels` pixels in a line
  divider across;           ///< tiles side by side
  std::uint32_t width = 0;  ///< width of a tile, in pixels
  std::uint32_t pixel_bytes = 0;  ///< bytes of a source pixel, or of one channel in planes
  std::uint8_t pixels = 1;        ///< pixels of a group
  bool has_ends = false;          ///< a vector may hold a row's end and the bytes after it
  std::uint8_t fours = 0;  ///< three channels of bytes: fours of pixels that a thread makes at once
};

/// Plans the tiles of a row that `by` converts.
/// @param alignment Alignment of the dataset's rows and their sizes, up to 16.
/// @param to_alignment Alignment of the batch's rows.
/// @return Nothing if a pixel has so many interleaved channels that it does not fit.
[[nodiscard]] std::optional<tile_shape> plan_tiles(const row_conversion& by, std::size_t alignment,
                                                   std::size_t to_alignment);

/// Number of tiles of one row.
[[nodiscard]] std::uint64_t tile_count(const row_conversion& by, const tile_shape& tiles);

}  // namespace feedline::detail
