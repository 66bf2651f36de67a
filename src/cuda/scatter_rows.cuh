#pragma once

#include "cuda/convert_rows.cuh"
#include "cuda/elements.cuh"
#include "cuda/geometry.cuh"
#include "cuda/rows.cuh"

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace feedline::detail {

/// Whether the elements `first` to `last` are surely all beside the window, so that they need not
/// cross the bus: above it, below it, or of one line and left or right of it.
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

/// Converts the elements of a vector into the sample's row of the slot, wherever each belongs.
template <class T>
__device__ __forceinline__ void scatter_vector(const conversion& by, const image_window& window,
                                               const uint4& vector, std::uint32_t first,
                                               std::byte* row) {
  constexpr std::uint32_t count = 16 / sizeof(T);
  T elements[count];
  memcpy(elements, &vector, sizeof vector);
#pragma unroll
  for (std::uint32_t i = 0; i < count; ++i) {
    const pixel at = target_pixel(
        by, window, pixel_of(first + i, by.channels_last, by.from_outer, by.from_lines));
    if (is_in_window(by, at)) {
      const std::uint32_t element =
          element_of(at, by.to_channels_last, by.channels, by.to_height, by.to_width);
      store_element(row, element, scaled(by, at.channel, to_float(elements[i])), by.to);
    }
  }
}

/// Converts samples' rows into the slot, reading each vector of the source once, in order: one
/// block's share of a part. For rows behind the bus, which is slower than any order of stores.
template <class T>
__device__ __forceinline__ void scatter_samples(const slot_frame& frame, const assembly_part& part,
                                                const conversion& by, std::uint32_t block) {
  constexpr std::uint32_t tile = block_threads * scattered_a_thread;
  constexpr std::uint32_t count = 16 / sizeof(T);
  for (std::uint64_t first = std::uint64_t{block} * tile + threadIdx.x; first < part.items;
       first += std::uint64_t{part.blocks} * tile) {
    row_item places[scattered_a_thread];
    bool wanted[scattered_a_thread];
    uint4 vectors[scattered_a_thread];
#pragma unroll
    for (std::uint32_t i = 0; i < scattered_a_thread; ++i) {
      const std::uint64_t item = first + i * block_threads;
      wanted[i] = item < part.items;
      places[i] = split(part, wanted[i] ? item : part.items - 1);
      const std::uint32_t sample = places[i].row;
      const std::byte* const row = sample_row(frame, part, sample, __ldg(frame.sources + sample));
      places[i].item = vector_of<uint4>(part, row, places[i].item);
      wanted[i] = wanted[i] && places[i].item < part.row_vectors;
      if (wanted[i]) {
        const image_window window = window_of(by, variation_of_sample(frame, sample));
        const std::uint32_t begin = places[i].item * count;
        wanted[i] = !is_left_out(by, window, begin, begin + count - 1);
      }
      if (wanted[i]) vectors[i] = load_vector<uint4>(row, places[i].item);
    }
#pragma unroll
    for (std::uint32_t i = 0; i < scattered_a_thread; ++i) {
      if (!wanted[i]) continue;
      const image_window window = window_of(by, variation_of_sample(frame, places[i].row));
      scatter_vector<T>(by, window, vectors[i], places[i].item * count,
                        slot_row(frame, part, places[i].row));
    }
  }
}

}  // namespace feedline::detail
