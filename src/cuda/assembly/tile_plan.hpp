#pragma once

#include <feedline/device/assembly.hpp>

#include "detail/divider.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>

namespace feedline::detail {

/// What a thread loads or stores at once, at most.
inline constexpr std::size_t widest_vector = 16;

/// The largest power of two that divides all that was or-ed together, up to a vector's bytes.
inline std::size_t common_alignment(std::size_t ored) noexcept {
  const std::size_t all = ored | widest_vector;
  return all & (~all + 1);
}
inline std::size_t address(const void* memory) noexcept {
  return reinterpret_cast<std::uintptr_t>(memory);
}
/// Of the dataset's rows, kept and arrived.
inline std::size_t source_alignment(const assembly& work, const field_assembly& field) noexcept {
  return common_alignment(address(field.cached) | address(work.landing_buffer) | field.row_bytes);
}
/// Of the batch's rows.
inline std::size_t target_alignment(const assembly& work, const field_assembly& field) noexcept {
  return common_alignment(address(work.slot) | field.to_offset | work.batch_bytes |
                          field.to_row_bytes);
}

inline constexpr std::uint32_t warp_threads = 32;

/// Shared memory that a warp holds a tile's source in: 48 KiB a block, all that needs no asking.
inline constexpr std::uint32_t tile_bytes = 6144;
/// The same of images of three channels of bytes whose channels are last in the batch: behind it
/// lie, of each thread, the three vectors that it makes at once.
inline constexpr std::uint32_t rgb_tile_bytes =
    tile_bytes - 3 * warp_threads * std::uint32_t{widest_vector};
/// Pixels that a thread makes together: the first of these by which lines can be divided so that
/// their values are whole vectors, or the last.
inline constexpr std::uint32_t group_pixels[] = {8, 4, 1};

/// How images of the batch are cut into tiles, whose source fits into a warp's shared memory: there
/// each line, of each plane, has the same number of vectors of 16 bytes, wherever it begins.
struct tile_shape {
  divider lines;                  ///< of a tile
  divider vectors;                ///< of a line's source, with room to begin anywhere in the first
  divider groups;                 ///< of `pixels`, of a line
  divider across;                 ///< tiles side by side
  std::uint32_t width = 0;        ///< of a tile, in pixels
  std::uint32_t pixel_bytes = 0;  ///< of the source: of all channels if they are last, else of one
  std::uint8_t pixels = 1;        ///< of a group
  bool has_ends = false;          ///< a vector may hold a row's end and what is behind it
  std::uint8_t fours = 0;  ///< three channels of bytes: fours of pixels that a thread makes at once
};

/// Cuts what `by` makes of a row.
/// @param alignment Of the dataset's rows and their sizes, up to 16.
/// @param to_alignment Of the batch's.
/// @return Nothing if so many channels lie together that a pixel does not fit.
[[nodiscard]] std::optional<tile_shape> plan_tiles(const field_conversion& by,
                                                   std::size_t alignment, std::size_t to_alignment);

/// Tiles of one row.
[[nodiscard]] std::uint64_t tile_count(const field_conversion& by, const tile_shape& tiles);

}  // namespace feedline::detail
