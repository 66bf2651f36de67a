#pragma once

#include "cuda/assembly/elements.cuh"
#include "cuda/assembly/rows.cuh"
#include "cuda/assembly/tile_source.cuh"

#include <cstddef>
#include <cstdint>

namespace feedline::detail {

// Tiles of images with three channels of bytes. Most images are of this kind, so everything
// possible is known at compile time: where a group's bytes are, and how each is converted.

/// Where the lines of a tile's source are in shared memory: like `line_in_tile`, but values that
/// are the same for all lines are computed once.
struct rgb_lines {
  std::uint32_t shift;        ///< offset of the tile's first line in its first vector
  std::uint32_t row_line;     ///< from a line to the next in the dataset's row
  std::uint32_t row_plane;    ///< from a plane to the next there
  std::uint32_t line_bytes;   ///< from a line to the next in shared memory
  std::uint32_t plane_bytes;  ///< from a plane to the next there

  __device__ rgb_lines(const conversion& by, const image_tile& at)
      : shift{line_shift(at, line_in_row(by, at, 0, 0))},
        row_line{by.width * by.tiles.pixel_bytes},
        row_plane{by.height * row_line},
        line_bytes{by.tiles.vectors.divisor() * 16},
        plane_bytes{by.tiles.lines.divisor() * line_bytes} {}

  [[nodiscard]] __device__ std::uint32_t begin(std::uint32_t plane, std::uint32_t line) const {
    return plane * plane_bytes + line * line_bytes +
           (shift + plane * row_plane + line * row_line) % 16;
  }
};

/// Reads bytes of a line's source by words, wherever they begin. It may read the word after them.
/// That word is inside the line's memory: a line whose bytes end with a word begins with one, at
/// most 12 bytes into its first vector, and its vectors have room for 15.
template <std::uint32_t Words>
__device__ __forceinline__ void load_words(const uint4* memory, std::uint32_t begin,
                                           std::uint32_t (&words)[Words]) {
  const std::uint32_t* const from = reinterpret_cast<const std::uint32_t*>(memory) + begin / 4;
  const std::uint32_t shift = begin % 4 * 8;
  std::uint32_t low = from[0];
#pragma unroll
  for (std::uint32_t i = 0; i < Words; ++i) {
    const std::uint32_t high = from[i + 1];
    words[i] = __funnelshift_r(low, high, shift);
    low = high;
  }
}

/// Reverses the order of four pixels of three bytes each.
__device__ __forceinline__ void reverse_pixels(std::uint32_t (&words)[3]) {
  const std::uint32_t first = __byte_perm(words[1], words[2], 0x2765);
  const std::uint32_t inner = __byte_perm(words[1], words[2], 0x0043);
  const std::uint32_t outer = __byte_perm(words[0], words[1], 0x0043);
  const std::uint32_t last = __byte_perm(words[0], words[1], 0x2105);
  words[0] = first;
  words[1] = __byte_perm(inner, outer, 0x5410);
  words[2] = last;
}
/// Reverses the order of four pixels of one byte each.
__device__ __forceinline__ void reverse_pixels(std::uint32_t (&words)[1]) {
  words[0] = __byte_perm(words[0], 0, 0x0123);
}

/// Pixels side by side in the batch, as bytes: some groups of four, each in one line.
/// @tparam Planes Whether the dataset's row has planes; else its channels are last.
template <std::uint32_t Fours, bool Planes>
struct rgb_group {
  static constexpr std::uint32_t planes = Planes ? 3 : 1;

  std::uint32_t words[Fours][planes][3 / planes];

  /// @param first Index among the tile's groups of four.
  __device__ __forceinline__ rgb_group(const rgb_lines& lines, const image_tile& at,
                                       const uint4* memory, const divider& line_fours,
                                       std::uint32_t first) {
#pragma unroll
    for (std::uint32_t i = 0; i < Fours; ++i) {
      const std::uint32_t line = line_fours.quotient(first + i);
      const std::uint32_t x = (first + i - line * line_fours.divisor()) * 4;
      const std::uint32_t from_x = at.window.flipped ? at.width - 4 - x : x;
#pragma unroll
      for (std::uint32_t plane = 0; plane < planes; ++plane) {
        load_words(memory, lines.begin(plane, line) + from_x * (3 / planes), words[i][plane]);
        if (at.window.flipped) reverse_pixels(words[i][plane]);
      }
    }
  }
  [[nodiscard]] __device__ __forceinline__ float value(std::uint32_t pixel,
                                                       std::uint32_t channel) const {
    const std::uint32_t byte = Planes ? pixel % 4 : 3 * (pixel % 4) + channel;
    const std::uint32_t word = words[pixel / 4][Planes ? channel : 0][byte / 4];
    return static_cast<float>(word >> byte % 4 * 8 & 0xff);
  }
};

/// The scale and offset of each channel.
struct rgb_scaling {
  float scale[3];
  float offset[3];

  __device__ explicit rgb_scaling(const conversion& by) {
#pragma unroll
    for (std::uint32_t channel = 0; channel < 3; ++channel) {
      const std::uint32_t place = by.per_channel ? channel : 0;
      scale[channel] = by.scale[place];
      offset[channel] = by.offset[place];
    }
  }
};

/// Converts groups of four values to a vector.
template <element_type To, std::uint32_t Fours>
__device__ __forceinline__ auto to_vector(const float (&values)[4 * Fours]) {
  const auto pair = [&](std::uint32_t first) {
    return to_half_pair(values[first], values[first + 1], To);
  };
  if constexpr (To == element_type::f32) {
    static_assert(Fours == 1);
    return make_float4(values[0], values[1], values[2], values[3]);
  } else if constexpr (Fours == 1) {
    return make_uint2(pair(0), pair(2));
  } else {
    return make_uint4(pair(0), pair(2), pair(4), pair(6));
  }
}
template <element_type To, std::uint32_t Fours>
using rgb_vector = decltype(to_vector<To, Fours>({}));

/// Converts a group to three vectors. Each has one channel, or the channels are interleaved.
template <element_type To, bool ToPlanes, std::uint32_t Fours, bool Planes>
__device__ __forceinline__ void make_vectors(const rgb_group<Fours, Planes>& group,
                                             const rgb_scaling& scaling,
                                             rgb_vector<To, Fours> (&vectors)[3]) {
  constexpr std::uint32_t pixels = 4 * Fours;
#pragma unroll
  for (std::uint32_t vector = 0; vector < 3; ++vector) {
    float values[pixels];
#pragma unroll
    for (std::uint32_t i = 0; i < pixels; ++i) {
      const std::uint32_t element = vector * pixels + i;
      const std::uint32_t channel = ToPlanes ? vector : element % 3;
      const float value = group.value(ToPlanes ? i : element / 3, channel);
      values[i] = __fadd_rn(__fmul_rn(value, scaling.scale[channel]), scaling.offset[channel]);
    }
    vectors[vector] = to_vector<To, Fours>(values);
  }
}

/// Stores a warp's vectors, three adjacent ones a thread, so that neighboring threads also store to
/// neighboring addresses: the vectors go through shared memory. All threads of the warp call it.
/// @param index Index of the thread's first vector in the batch's row; `none` if it has no vectors.
template <class Vector>
__device__ __forceinline__ void store_side_by_side(Vector* to, std::uint32_t index,
                                                   std::uint32_t none, const Vector (&vectors)[3],
                                                   std::uint32_t thread, Vector* stage) {
#pragma unroll
  for (std::uint32_t i = 0; i < 3; ++i) stage[3 * thread + i] = vectors[i];
  __syncwarp();
#pragma unroll
  for (std::uint32_t i = 0; i < 3; ++i) {
    const std::uint32_t place = i * warp_threads + thread;
    const std::uint32_t first = __shfl_sync(~0U, index, static_cast<int>(place / 3));
    if (first != none) __stcs(to + first + place % 3, stage[place]);
  }
  __syncwarp();  // before the next vectors overwrite these
}

/// Makes a tile whose source is in shared memory: one thread's share.
/// @tparam Planes Whether the dataset's row has planes. @tparam ToPlanes Whether the batch's row
///                has planes.
/// @param stage Shared memory of the warp, after the source; used if the batch has no planes.
template <element_type To, std::uint32_t Fours, bool Planes, bool ToPlanes>
__device__ __forceinline__ void make_rgb_groups(const conversion& by, const image_tile& at,
                                                std::uint32_t thread, const uint4* memory,
                                                uint4* stage) {
  using vector = rgb_vector<To, Fours>;
  constexpr std::uint32_t none = ~0U;
  const rgb_lines lines{by, at};
  const rgb_scaling scaling{by};
  const divider line_fours = by.tiles.groups;
  const std::uint32_t count = at.lines * line_fours.divisor();
  const std::uint32_t row_fours = by.to_width / 4;  // fours in a line of the whole image
  const std::uint32_t plane = by.to_height * row_fours / Fours;
  auto* const to = reinterpret_cast<vector*>(at.to);
#pragma unroll 1
  for (std::uint32_t first = 0; first < count; first += warp_threads * Fours) {
    const std::uint32_t each = first + thread * Fours;
    const std::uint32_t line = line_fours.quotient(each);
    const std::uint32_t place = each - line * line_fours.divisor();
    const bool has_group = each < count && place * 4 < at.width;
    const std::uint32_t group = ((at.y + line) * row_fours + at.x / 4 + place) / Fours;
    vector vectors[3] = {};
    if (has_group) {
      make_vectors<To, ToPlanes>(rgb_group<Fours, Planes>{lines, at, memory, line_fours, each},
                                 scaling, vectors);
    }
    if constexpr (ToPlanes) {
#pragma unroll
      for (std::uint32_t i = 0; i < 3; ++i)
        if (has_group) __stcs(to + i * plane + group, vectors[i]);
    } else {
      store_side_by_side(to, has_group ? 3 * group : none, none, vectors, thread,
                         reinterpret_cast<vector*>(stage));
    }
  }
}

/// The same, for layouts that are known at run time.
template <element_type To, std::uint32_t Fours>
__device__ __forceinline__ void make_rgb_layout(const conversion& by, const image_tile& at,
                                                std::uint32_t thread, const uint4* memory,
                                                uint4* stage) {
  if (by.channels_last) {
    if (by.to_channels_last)
      return make_rgb_groups<To, Fours, false, false>(by, at, thread, memory, stage);
    return make_rgb_groups<To, Fours, false, true>(by, at, thread, memory, stage);
  }
  if (by.to_channels_last)
    return make_rgb_groups<To, Fours, true, false>(by, at, thread, memory, stage);
  make_rgb_groups<To, Fours, true, true>(by, at, thread, memory, stage);
}

/// The same, for batch element types that are known at run time.
__device__ __forceinline__ void make_rgb_tile(const conversion& by, const image_tile& at,
                                              std::uint32_t thread, const uint4* memory,
                                              uint4* stage) {
  constexpr auto f16 = element_type::f16;
  constexpr auto bf16 = element_type::bf16;
  constexpr auto f32 = element_type::f32;
  if (by.to == f32) return make_rgb_layout<f32, 1>(by, at, thread, memory, stage);
  if (by.tiles.fours == 1) {
    if (by.to == f16) return make_rgb_layout<f16, 1>(by, at, thread, memory, stage);
    return make_rgb_layout<bf16, 1>(by, at, thread, memory, stage);
  }
  if (by.to == f16) return make_rgb_layout<f16, 2>(by, at, thread, memory, stage);
  make_rgb_layout<bf16, 2>(by, at, thread, memory, stage);
}

}  // namespace feedline::detail
