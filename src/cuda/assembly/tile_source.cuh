#pragma once

#include "cuda/assembly/geometry.cuh"
#include "cuda/assembly/rows.cuh"

#include <cuda_pipeline_primitives.h>

#include <cstddef>
#include <cstdint>

namespace feedline::detail {

/// A rectangle of a sample's image in the batch, and where its source is.
struct image_tile {
  const std::byte* row;  ///< in the dataset
  std::byte* to;         ///< in the batch
  image_window window;
  std::uint32_t y;  ///< in the batch's image
  std::uint32_t x;
  std::uint32_t lines;
  std::uint32_t width;
  std::uint32_t from_y;  ///< in the dataset's image; wraps below 0
  std::uint32_t from_x;
  std::uint32_t begin;  ///< the bytes [begin, end) of each line's source are inside the image
  std::uint32_t end;
  std::uint32_t vector_offsets;  ///< a whole vector of the row begins at an offset below this
};

__device__ __forceinline__ image_tile tile_at(const slot_frame& frame, const assembly_part& part,
                                              const conversion& by, std::uint64_t item) {
  const tile_shape& tiles = by.tiles;
  const row_item place = split(part, item);
  image_tile at;
  const auto row_bytes = static_cast<std::uint32_t>(part.row_bytes);
  at.vector_offsets = row_bytes < 16 ? 0 : row_bytes - 15;
  // Issue both loads before waiting for either.
  const std::uint32_t source = source_of(frame, place.row);
  const std::uint32_t random_bits = random_bits_of_sample(frame, place.row);
  at.row = sample_row(frame, part, place.row, source);
  at.to = slot_row(frame, part, place.row);
  at.window = window_of(by, random_bits);
  const std::uint32_t down = tiles.across.quotient(place.item);
  at.y = down * tiles.lines.divisor();
  at.x = (place.item - down * tiles.across.divisor()) * tiles.width;
  at.lines = min(tiles.lines.divisor(), by.to_height - at.y);
  at.width = min(tiles.width, by.to_width - at.x);
  const pixel from =
      source_pixel(by, at.window, {0, at.y, at.window.flipped ? at.x + at.width - 1 : at.x});
  at.from_y = from.y;
  at.from_x = from.x;
  const bool is_left = static_cast<std::int32_t>(from.x) < 0;
  const std::uint32_t padded = is_left ? min(0 - from.x, at.width) : 0;
  const std::uint32_t behind = is_left ? by.width + (0 - from.x) : by.width - min(from.x, by.width);
  at.begin = padded * tiles.pixel_bytes;
  at.end = min(behind, at.width) * tiles.pixel_bytes;
  return at;
}

/// The byte of the dataset's row at which a line's source begins; wraps below 0.
__device__ inline std::uint32_t line_in_row(const conversion& by, const image_tile& at,
                                            std::uint32_t plane, std::uint32_t line) {
  return ((plane * by.height + at.from_y + line) * by.width + at.from_x) * by.tiles.pixel_bytes;
}
/// The offset of that byte in its first vector.
__device__ inline std::uint32_t line_shift(const image_tile& at, std::uint32_t in_row) {
  return (static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(at.row)) + in_row) % 16;
}
/// The byte of shared memory at which a line's source begins.
__device__ inline std::uint32_t line_in_tile(const conversion& by, const image_tile& at,
                                             std::uint32_t plane, std::uint32_t line) {
  return (plane * by.tiles.lines.divisor() + line) * by.tiles.vectors.divisor() * 16 +
         line_shift(at, line_in_row(by, at, plane, line));
}

/// 16 bytes of a line's source.
struct tile_vector {
  std::int32_t offset;  ///< offset from the row's start
  std::int32_t begin;   ///< bytes [begin, end) of the vector are in the image; maybe none
  std::int32_t end;
  bool whole;  ///< some bytes are in the image, and all are in the row
};

/// @tparam Planes Whether the dataset's row has planes; else its channels are last.
/// @tparam Padded Whether some of the source may be padding.
/// @param index Index among all vectors of a tile's source.
template <bool Planes, bool Padded>
__device__ __forceinline__ tile_vector tile_vector_at(const conversion& by, const image_tile& at,
                                                      std::uint32_t index) {
  const tile_shape& tiles = by.tiles;
  const std::uint32_t line_of_all = tiles.vectors.quotient(index);
  const std::uint32_t plane = Planes ? tiles.lines.quotient(line_of_all) : 0;
  const std::uint32_t line = line_of_all - plane * tiles.lines.divisor();
  const std::uint32_t in_row = line_in_row(by, at, plane, line);
  // Offset of the vector in the line's source; below 0 if the vector begins before the line.
  const auto first = static_cast<std::int32_t>(
      (index - line_of_all * tiles.vectors.divisor()) * 16 - line_shift(at, in_row));
  bool in_image = line < at.lines;
  if (Padded) in_image = in_image & (at.from_y + line < by.height);
  tile_vector vector;
  vector.offset = static_cast<std::int32_t>(in_row + static_cast<std::uint32_t>(first));
  vector.begin = max(static_cast<std::int32_t>(at.begin) - first, 0);
  vector.end = in_image ? min(static_cast<std::int32_t>(at.end) - first, 16) : 0;
  const bool has_some =
      Padded ? vector.begin < vector.end : in_image & (first < static_cast<std::int32_t>(at.end));
  vector.whole = has_some & (static_cast<std::uint32_t>(vector.offset) < at.vector_offsets);
  return vector;
}

/// Begins to read 16 bytes into shared memory. The L2 cache evicts them first: they are not read
/// again soon.
__device__ __forceinline__ void load_once(uint4* to, const std::byte* from) {
#if __CUDA_ARCH__ >= 800
  std::uint64_t evict_first;
  asm("createpolicy.fractional.L2::evict_first.b64 %0;" : "=l"(evict_first));
  const auto shared = static_cast<std::uint32_t>(__cvta_generic_to_shared(to));
  asm volatile("cp.async.cg.shared.global.L2::cache_hint [%0], [%1], 16, %2;"
               :
               : "r"(shared), "l"(from), "l"(evict_first)
               : "memory");
#else
  __pipeline_memcpy_async(to, from, sizeof(uint4));
#endif
}

/// Reads the bytes of a vector that belong to the row, if not all do.
__device__ inline void load_end(const image_tile& at, const tile_vector& vector, uint4* to) {
  const auto* const from = reinterpret_cast<const std::uint8_t*>(at.row) + vector.offset;
#pragma unroll 1
  for (std::int32_t i = vector.begin; i < vector.end; ++i)
    reinterpret_cast<std::uint8_t*>(to)[i] = __ldg(from + i);
}

template <bool Planes, bool Padded>
__device__ __forceinline__ void load_tile(const conversion& by, const image_tile& at,
                                          std::uint32_t thread, uint4* memory) {
  const std::uint32_t lines = (Planes ? by.channels : 1) * by.tiles.lines.divisor();
  const std::uint32_t count = lines * by.tiles.vectors.divisor();
#pragma unroll 4
  for (std::uint32_t index = thread; index < count; index += warp_threads) {
    const tile_vector vector = tile_vector_at<Planes, Padded>(by, at, index);
    if (vector.whole) {
      load_once(memory + index, at.row + vector.offset);
    } else if (Padded) {
      memory[index] = make_uint4(0, 0, 0, 0);
    }
  }
  __pipeline_commit();
  __pipeline_wait_prior(0);
  if (!by.tiles.has_ends) return;
#pragma unroll 1
  for (std::uint32_t index = thread; index < count; index += warp_threads) {
    const tile_vector vector = tile_vector_at<Planes, Padded>(by, at, index);
    if (!vector.whole) load_end(at, vector, memory + index);
  }
}

/// Reads a tile's source: one thread's share. Nothing outside the dataset's row is read; vectors of
/// padding become 0.
__device__ __forceinline__ void load_tile(const conversion& by, const image_tile& at,
                                          std::uint32_t thread, uint4* memory) {
  if (by.channels_last) {
    if (by.padding == 0) return load_tile<false, false>(by, at, thread, memory);
    return load_tile<false, true>(by, at, thread, memory);
  }
  if (by.padding == 0) return load_tile<true, false>(by, at, thread, memory);
  load_tile<true, true>(by, at, thread, memory);
}

/// Whether some of a line's source is padding.
__device__ inline bool has_padding(const conversion& by, const image_tile& at) {
  return at.begin != 0 || at.end < at.width * by.tiles.pixel_bytes;
}

/// Zeroes the padding in vectors that also hold some of the image: one thread's share. All threads
/// have finished their loads.
__device__ __forceinline__ void clear_padding(const conversion& by, const image_tile& at,
                                              std::uint32_t thread, uint4* memory) {
  const std::uint32_t tile_lines = by.tiles.lines.divisor();
  const std::uint32_t lines = (by.channels_last ? 1 : by.channels) * tile_lines;
  const std::uint32_t line_end = min(at.end + 16, at.width * by.tiles.pixel_bytes);
#pragma unroll 1
  for (std::uint32_t each = thread; each < lines; each += warp_threads) {
    const std::uint32_t plane = by.channels_last ? 0 : by.tiles.lines.quotient(each);
    auto* const line = reinterpret_cast<std::uint8_t*>(memory) +
                       line_in_tile(by, at, plane, each - plane * tile_lines);
#pragma unroll 1
    for (std::uint32_t i = max(at.begin, 16U) - 16; i < at.begin; ++i) line[i] = 0;
#pragma unroll 1
    for (std::uint32_t i = at.end; i < line_end; ++i) line[i] = 0;
  }
}

}  // namespace feedline::detail
