#pragma once

#include "cuda/assembly/convert_rows.cuh"
#include "cuda/assembly/elements.cuh"
#include "cuda/assembly/geometry.cuh"
#include "cuda/assembly/rows.cuh"

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace feedline::detail {

/// Whether the elements `first` to `last` are certainly all outside the window, so that they need
/// not cross the bus: above it, below it, or in one line and left or right of it.
__device__ inline bool is_left_out(const conversion& by, const image_window& window,
                                   std::uint32_t first, std::uint32_t last) {
  const pixel from = pixel_of(first, by.channels_last, by.from_outer, by.from_lines);
  const pixel to = pixel_of(last, by.channels_last, by.from_outer, by.from_lines);
  if (!by.channels_last && from.channel != to.channel) return false;
  const std::uint32_t y = from.y + by.padding;
  const std::uint32_t last_y = to.y + by.padding;
  if (last_y < window.top || y >= window.top + by.to_height) return true;
  if (from.y != to.y) return false;
  const std::uint32_t x = from.x + by.padding;
  const std::uint32_t last_x = to.x + by.padding;
  return last_x < window.left || x >= window.left + by.to_width;
}

/// Converts the elements of a piece that belong to the row, and stores each at its position in the
/// sample's row of the slot.
template <class T>
__device__ __forceinline__ void scatter_piece(const conversion& by, const image_window& window,
                                              const line_piece& piece, const uint4& vector,
                                              std::int32_t row_elements, std::byte* row) {
  constexpr auto element_bytes = static_cast<std::int32_t>(sizeof(T));
  T elements[16 / element_bytes];
  memcpy(elements, &vector, sizeof vector);
#pragma unroll
  for (std::int32_t i = 0; i < 16 / element_bytes; ++i) {
    const std::int32_t element = piece.offset / element_bytes + i;
    if (element < 0 || element >= row_elements) continue;
    const pixel at = target_pixel(by, window,
                                  pixel_of(static_cast<std::uint32_t>(element), by.channels_last,
                                           by.from_outer, by.from_lines));
    if (is_in_window(by, at)) {
      const std::uint32_t to =
          element_of(at, by.to_channels_last, by.channels, by.to_height, by.to_width);
      store_element(row, to, scaled(by, at.channel, to_float(elements[i])), by.to);
    }
  }
}

/// Converts samples' rows into the slot, and reads each piece of the source once, in order: one
/// block's share of a part. For rows that are read over the bus, which is slower than stores in any
/// order.
template <class T>
__device__ __forceinline__ void scatter_samples(const slot_frame& frame, const assembly_part& part,
                                                const conversion& by, std::uint32_t block) {
  constexpr auto element_bytes = static_cast<std::int32_t>(sizeof(T));
  const std::int32_t row_elements = static_cast<std::int32_t>(part.row_bytes) / element_bytes;
  for (std::uint64_t each = std::uint64_t{block} * block_threads + threadIdx.x; each < part.items;
       each += std::uint64_t{part.blocks} * block_threads) {
    const row_item place = split(part, each);
    const image_window window = window_of(by, random_bits_of_sample(frame, place.row));
    const line_piece piece =
        piece_of(part, sample_row(frame, part, place.row, source_of(frame, place.row)), place.item);
    const std::int32_t begin = piece.offset / element_bytes;
    const std::int32_t last = min(begin + 16 / element_bytes, row_elements) - 1;
    if (piece.wanted && !is_left_out(by, window, static_cast<std::uint32_t>(max(begin, 0)),
                                     static_cast<std::uint32_t>(last))) {
      scatter_piece<T>(by, window, piece, load_vector<uint4>(piece.from), row_elements,
                       slot_row(frame, part, place.row));
    }
  }
}

}  // namespace feedline::detail
