#pragma once

#include "cuda/decode/jpeg/batch.hpp"
#include "cuda/decode/jpeg/kernels.hpp"

#include <cstddef>
#include <cstdint>

namespace feedline::detail {

// A thread block makes a tile of a row; each thread makes some pixels below one another.
inline constexpr std::uint32_t resize_threads = 256;
inline constexpr std::uint32_t tile_width = 64;
inline constexpr std::uint32_t tile_height = 16;
inline constexpr std::uint32_t rows_at_once = resize_threads / tile_width;
inline constexpr std::uint32_t thread_pixels = tile_height / rows_at_once;

/// An axis' records.
struct tap_records {
  const std::uint32_t* words;
  std::uint32_t pairs;

  __device__ const std::uint32_t* of(std::uint32_t element) const {
    return words + element * (1 + pairs);
  }
};

__device__ inline jpeg_taps* taps_of(const jpeg_batch& batch, const jpeg_image& image) {
  return reinterpret_cast<jpeg_taps*>(batch.memory + image.taps_at);
}

/// The row of an image.
struct row_memory {
  std::byte* begin;
  std::uint32_t width;
  std::size_t pixel_stride;    ///< in bytes, as `channel_stride`
  std::size_t channel_stride;  ///< unused with one channel

  __device__ row_memory(const image_row& row, const jpeg_image& image) : begin{image.row} {
    const image_extents extents = row_extents(image.in_row, {row.height, row.width});
    const bool in_planes = row.layout == image_layout::chw || row.channels == 1;
    const std::size_t value_bytes = row.type == element_type::u16 ? 2 : 1;
    width = extents.width;
    pixel_stride = value_bytes * (in_planes ? 1 : 3);
    channel_stride = value_bytes * (in_planes ? extents.pixels() : 1);
  }
  __device__ std::byte* pixel(std::uint32_t y, std::uint32_t x) const {
    return begin + (std::size_t{y} * width + x) * pixel_stride;
  }
};

/// Where the pixels of an image go in its row: turned, and mirrored.
struct made_pixels {
  row_memory row;
  image_turn turn;
  image_extents made;   ///< `made_extents`
  std::uint32_t right;  ///< column of the last pixel that is shown
  image_in_row in_row;

  __device__ made_pixels(const image_row& of, const jpeg_image& image)
      : row{of, image},
        turn{image.turn()},
        made{made_extents(of, image)},
        right{turn.turned(made).width - 1},
        in_row{image.in_row} {}
  /// @param y, x A position in what is made of the image.
  __device__ std::byte* at(std::uint32_t y, std::uint32_t x) const {
    const pixel_position shown = turn.as_shown(pixel_position{y, x}, made);
    return row.pixel(in_row.top + shown.y,
                     in_row.left + (in_row.mirrored ? right - shown.x : shown.x));
  }
};

}  // namespace feedline::detail
