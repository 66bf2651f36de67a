#pragma once

#include "cuda/assembly/augment_tile.cuh"
#include "cuda/assembly/elements.cuh"
#include "cuda/assembly/geometry.cuh"
#include "cuda/assembly/rows.cuh"
#include "cuda/assembly/tile_resizer.cuh"
#include "transform/operations/operations.hpp"

#include <cstddef>
#include <cstdint>

namespace feedline::detail {

/// All random draws of a sample, and the addresses of its rows.
struct drawn_sample {
  augmented_image image;
  operations::drawn drawn;
  std::byte* to;
};

/// Shared memory for an object that has a constructor, which shared variables cannot have.
template <class T>
struct shared_room {
  alignas(T) std::byte bytes[sizeof(T)];

  [[nodiscard]] __device__ T& value() { return *reinterpret_cast<T*>(bytes); }
};

/// Shared memory of a block that augments.
struct augment_memory {
  shared_room<drawn_sample> sample;
  resized_tile_memory tile;
};

/// Calls f(row of the tile, channel, color) for each of a thread's pixels of a tile, resized or
/// cropped. A color has three channels, beginning with `channel`, or fewer if the image has no
/// more.
template <class T, image_kind Kind, class Function>
__device__ __forceinline__ void for_moved_pixels(resized_tile_memory& shared, const conversion& by,
                                                 const augmented_image& image,
                                                 const augment_tile& tile, const Function& f) {
  const auto for_channels = [&](const auto& does) {
    if constexpr (Kind == image_kind::rgb_bytes) {
      does(0);
    } else {
#pragma unroll 1
      for (std::uint32_t first = 0; first < by.channels; first += 3) does(first);
    }
  };
  if (by.resizes) {
    tile_resizer<T, Kind> resizer{shared, by, image, tile};
    for_channels([&](std::uint32_t first) {
      resizer.for_pixels(first,
                         [&](std::uint32_t row, const color& pixel) { f(row, first, pixel); });
    });
    return;
  }
  if (tile_column() >= tile.width) return;
  for_channels([&](std::uint32_t first) {
    const source_elements<T, Kind> elements{by, image.row, first};
#pragma unroll 1
    for (std::uint32_t row = tile_row(); row < tile.height; row += block_warps) {
      const pixel source =
          source_pixel(by, image.crop, {first, tile.top + row, tile.left + tile_column()});
      color pixel{};
      if (is_inside(by, source))
        for (std::uint32_t c = 0; c < 3; ++c)
          if (c < channels_from<Kind>(by, first))
            pixel.of[c] = elements.load(elements.at(source.y, source.x), c);
      f(row, first, pixel);
    }
  });
}

[[nodiscard]] __device__ inline drawn_sample draw_sample(const slot_frame& frame,
                                                         const augment_part& part,
                                                         std::uint32_t sample) {
  const conversion& by = part.by;
  const std::uint32_t random_bits = random_bits_of_sample(frame, sample);
  drawn_sample drawn{
      {sample_row(frame, part, sample, source_of(frame, sample)),
       {},
       {},
       is_flipped(by, random_bits)},
      operations::draw(operations::of(part.operations), {by.to_height, by.to_width}, random_bits),
      slot_row(frame, part, sample)};
  if (by.resizes)
    drawn.image.resized = source_window_of(by, random_bits);
  else
    drawn.image.crop = window_of(by, random_bits);
  return drawn;
}

/// Resizes or crops samples' images, and applies operations to their pixels, into the slot: one
/// block's share of a part.
template <class T, image_kind Kind>
__device__ __forceinline__ void augment_samples(const slot_frame& frame, const augment_part& part,
                                                std::uint32_t block, augment_memory& shared) {
  const conversion& by = part.by;
  const operations::parameters& planned = operations::of(part.operations);
  const std::uint32_t column_apart = by.to_channels_last ? by.to_channels : 1;
  const std::uint32_t channel_apart = by.to_channels_last ? 1 : by.to_height * by.to_width;
  for (std::uint64_t each = block; each < part.items; each += part.blocks) {
    const row_item place = split(part, each);
    __syncthreads();  // the threads have finished the sample before
    if (threadIdx.x == 0) shared.sample.value() = draw_sample(frame, part, place.row);
    __syncthreads();
    const drawn_sample& sample = shared.sample.value();
    const operations::drawn& drawn = sample.drawn;  // in shared memory, to save registers
    std::byte* const to = sample.to;
    const tile_range tiles = tiles_of_item(by, place.item, false);
    for (std::uint32_t number = tiles.first; number < tiles.end; ++number) {
      const augment_tile tile = tile_of(by, number);
      const auto store = [&](std::uint32_t row, std::uint32_t first, color colors) {
        const std::uint32_t y = tile.top + row;
        const std::uint32_t x = tile.left + tile_column();
        std::uint32_t channels = channels_from<Kind>(by, first);
        operations::apply(planned, drawn, {y, x, first}, colors, channels);
        const std::uint32_t element = (y * by.to_width + x) * column_apart + first * channel_apart;
        for (std::uint32_t c = 0; c < 3; ++c) {
          if (c >= channels) break;
          store_element(to, element + c * channel_apart, scaled(by, first + c, colors.of[c]),
                        by.to);
        }
      };
      for_moved_pixels<T, Kind>(shared.tile, by, sample.image, tile, store);
    }
  }
}

}  // namespace feedline::detail
