#pragma once

#include "cuda/elements.cuh"
#include "cuda/geometry.cuh"
#include "cuda/rows.cuh"
#include "device/resize_taps.hpp"
#include "device/source_window.hpp"

#include <cstddef>
#include <cstdint>

namespace feedline::detail {

/// Resizes samples' images into the slot: one block's share of a part. A block takes
/// `block_pixels` of an image at a time, a thread a pixel of all channels.
template <class T>
__device__ __forceinline__ void augment_samples(const slot_frame& frame, const assembly_part& part,
                                                const conversion& by, std::uint32_t block) {
  const std::uint32_t pixels = by.to_height * by.to_width;
  for (std::uint64_t each = block; each < part.items; each += part.blocks) {
    const row_item place = split(part, each);
    const std::byte* const row =
        sample_row(frame, part, place.row, __ldg(frame.sources + place.row));
    std::byte* const to = slot_row(frame, part, place.row);
    const std::uint32_t random_bits = random_bits_of_sample(frame, place.row);
    const image_part window = source_window_of(by, random_bits);
    const bool flipped = is_flipped(by, random_bits);
    const std::uint32_t first = place.item * block_pixels;
    const std::uint32_t end = min(first + block_pixels, pixels);
    for (std::uint32_t at = first + threadIdx.x; at < end; at += block_threads) {
      const std::uint32_t y = by.lines.quotient(at);
      const std::uint32_t x = at - y * by.to_width;
      const resize_taps rows = taps_of(y, window.height, by.to_height);
      const resize_taps columns =
          taps_of(flipped ? by.to_width - 1 - x : x, window.width, by.to_width);
#pragma unroll 1
      for (std::uint32_t channel = 0; channel < by.channels; ++channel) {
        const auto load = [&](std::uint32_t line, std::uint32_t column) {
          const pixel source{channel, window.top + line, window.left + column};
          return to_float(load_element<T>(
              row, element_of(source, by.channels_last, by.channels, by.height, by.width),
              by.aligned_loads));
        };
        store_element(to,
                      element_of({channel, y, x}, by.to_channels_last, by.channels, by.to_height,
                                 by.to_width),
                      scaled(by, channel, resized_value(rows, columns, load)), by.to);
      }
    }
  }
}

}  // namespace feedline::detail
