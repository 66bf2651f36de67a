#pragma once

#include "cuda/assembly/elements.cuh"
#include "cuda/assembly/geometry.cuh"
#include "cuda/assembly/rgb_tile.cuh"
#include "cuda/assembly/rows.cuh"
#include "cuda/assembly/tile_source.cuh"

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace feedline::detail {

// Images whose elements move: a warp takes a tile of a sample's image in the batch, reads all of
// its source into shared memory by whole vectors, and makes the tile from there.

/// Adjacent pixels of a tile, and their source in shared memory.
struct tile_group {
  const image_tile& at;
  const std::byte* memory;
  std::uint32_t line;
  std::uint32_t x;
  std::uint32_t first;  ///< the byte of the line's source at which the first pixel begins
  std::uint32_t step;   ///< from one pixel to the next; wraps below 0
};

/// @param x Column of the first pixel.
__device__ __forceinline__ tile_group group_at(const conversion& by, const image_tile& at,
                                               const uint4* memory, std::uint32_t line,
                                               std::uint32_t x) {
  const std::uint32_t bytes = by.tiles.pixel_bytes;
  const std::uint32_t column = at.window.flipped ? at.width - 1 - x : x;
  return {at,
          reinterpret_cast<const std::byte*>(memory),
          line,
          x,
          column * bytes,
          at.window.flipped ? 0 - bytes : bytes};
}

/// The byte of shared memory at which the first pixel's element of a channel begins.
template <class T>
__device__ __forceinline__ std::uint32_t channel_begin(const conversion& by,
                                                       const tile_group& group,
                                                       std::uint32_t channel) {
  constexpr std::uint32_t element_bytes = sizeof(T);
  return group.first + (by.channels_last
                            ? line_in_tile(by, group.at, 0, group.line) + channel * element_bytes
                            : line_in_tile(by, group.at, channel, group.line));
}

/// The value to which the element at a byte of shared memory is converted.
template <class T>
__device__ __forceinline__ float tile_value(const conversion& by, const tile_group& group,
                                            std::uint32_t channel, std::uint32_t byte) {
  T element;
  const std::byte* const from = group.memory + byte;
  if (by.aligned_loads) {
    memcpy(&element, __builtin_assume_aligned(from, sizeof element), sizeof element);
  } else {
    memcpy(&element, from, sizeof element);
  }
  return scaled(by, channel, to_float(element));
}

/// Stores adjacent values: one, or whole vectors.
template <std::uint32_t Count>
__device__ __forceinline__ void store_pixels(const conversion& by, const tile_group& group,
                                             std::uint32_t index, const float (&values)[Count]) {
  if constexpr (Count == 1) {
    store_element(group.at.to, index, values[0], by.to);
  } else if constexpr (Count == 4) {
    store_group(group.at.to, index, values, by.to);
  } else {
    store_wide(group.at.to, index, values, by.to);
  }
}

/// Makes a group of an image in planes.
template <class T, std::uint32_t Pixels>
__device__ __forceinline__ void make_planes(const conversion& by, const tile_group& group) {
  const std::uint32_t plane = by.to_height * by.to_width;
  std::uint32_t index = (group.at.y + group.line) * by.to_width + group.at.x + group.x;
#pragma unroll 1
  for (std::uint32_t channel = 0; channel < by.channels; ++channel) {
    const std::uint32_t begin = channel_begin<T>(by, group, channel);
    float values[Pixels];
#pragma unroll
    for (std::uint32_t i = 0; i < Pixels; ++i)
      values[i] = tile_value<T>(by, group, channel, begin + i * group.step);
    store_pixels(by, group, index, values);
    index += plane;
  }
}

/// Makes a group of an image whose channels are last, with one store for each channel.
template <class T, std::uint32_t Pixels>
__device__ __forceinline__ void make_pixels(const conversion& by, const tile_group& group) {
  std::uint32_t index =
      ((group.at.y + group.line) * by.to_width + group.at.x + group.x) * by.channels;
  std::uint32_t channel = 0;
  std::uint32_t offset = 0;
#pragma unroll 1
  for (std::uint32_t store = 0; store < by.channels; ++store) {
    float values[Pixels];
#pragma unroll
    for (std::uint32_t i = 0; i < Pixels; ++i) {
      const std::uint32_t begin = channel_begin<T>(by, group, channel);
      values[i] = tile_value<T>(by, group, channel, begin + offset);
      if (++channel == by.channels) {
        channel = 0;
        offset += group.step;
      }
    }
    store_pixels(by, group, index, values);
    index += Pixels;
  }
}

/// Makes a tile whose source is in shared memory: one thread's share.
template <class T, std::uint32_t Pixels>
__device__ __forceinline__ void make_tile(const conversion& by, const image_tile& at,
                                          std::uint32_t thread, const uint4* memory) {
  const bool planes = !by.to_channels_last || by.channels == 1;
  const std::uint32_t groups = by.tiles.groups.divisor();
#pragma unroll 1
  for (std::uint32_t each = thread; each < at.lines * groups; each += warp_threads) {
    const std::uint32_t line = by.tiles.groups.quotient(each);
    const std::uint32_t x = (each - line * groups) * Pixels;
    if (x >= at.width) continue;
    const tile_group group = group_at(by, at, memory, line, x);
    if (planes) {
      make_planes<T, Pixels>(by, group);
    } else {
      make_pixels<T, Pixels>(by, group);
    }
  }
}

/// Converts images of samples' rows into the slot: one block's share of a part, a warp a tile.
__device__ __forceinline__ void convert_tiles(const slot_frame& frame, const assembly_part& part,
                                              const conversion& by, std::uint32_t block) {
  extern __shared__ uint4 shared_memory[];
  const std::uint32_t warp = threadIdx.x / warp_threads;
  const std::uint32_t thread = threadIdx.x % warp_threads;
  uint4* const memory = shared_memory + warp * (tile_bytes / sizeof(uint4));
  for (std::uint64_t item = std::uint64_t{block} * block_warps + warp; item < part.items;
       item += std::uint64_t{part.blocks} * block_warps) {
    const image_tile at = tile_at(frame, part, by, item);
    load_tile(by, at, thread, memory);
    __syncwarp();
    if (has_padding(by, at)) {
      clear_padding(by, at, thread, memory);
      __syncwarp();
    }
    if (by.tiles.fours != 0) {
      make_rgb_tile(by, at, thread, memory, memory + rgb_tile_bytes / sizeof(uint4));
      __syncwarp();
      continue;
    }
    visit_element(by.from, [&](auto type) {
      switch (by.tiles.pixels) {
        case 8:
          return make_tile<decltype(type), 8>(by, at, thread, memory);
        case 4:
          return make_tile<decltype(type), 4>(by, at, thread, memory);
        default:
          return make_tile<decltype(type), 1>(by, at, thread, memory);
      }
    });
    __syncwarp();  // before the next tile's source replaces this one's
  }
}

}  // namespace feedline::detail
