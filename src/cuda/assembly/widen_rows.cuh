#pragma once

#include "cuda/assembly/elements.cuh"
#include "cuda/assembly/rows.cuh"

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace feedline::detail {

/// Scales 16 elements, which keep their order, and stores them.
template <class T>
__device__ __forceinline__ void widen(const conversion& by, const uint4& vector, std::byte* to,
                                      std::uint32_t first) {
  // All elements are of one channel; or of three in turn, beginning with the first element's
  // channel.
  float scale[3];
  float offset[3];
  if (by.three_in_turn) {
    const std::uint32_t channel = first % 3;
    const auto from_channel_on = [&](const float* of, float(&values)[3]) {
      const float a = of[0];
      const float b = of[1];
      const float c = of[2];
      values[0] = channel == 0 ? a : channel == 1 ? b : c;
      values[1] = channel == 0 ? b : channel == 1 ? c : a;
      values[2] = channel == 0 ? c : channel == 1 ? a : b;
    };
    from_channel_on(by.scale, scale);
    from_channel_on(by.offset, offset);
  } else {
    const bool one = !by.per_channel || by.channels == 1;
    const std::uint32_t channel = one ? 0 : by.outer.quotient(first);
    scale[0] = scale[1] = scale[2] = by.scale[channel];
    offset[0] = offset[1] = offset[2] = by.offset[channel];
  }
  T elements[wide_elements];
  memcpy(elements, &vector, sizeof elements);
  float values[wide_elements];
#pragma unroll
  for (std::uint32_t i = 0; i < wide_elements; ++i)
    values[i] = __fadd_rn(__fmul_rn(to_float(elements[i]), scale[i % 3]), offset[i % 3]);
  store_wide(to, first, values, by.to);
}

/// Converts samples' rows of one-byte elements into the slot: one block's share of a part.
template <class T>
__device__ __forceinline__ void widen_samples(const slot_frame& frame, const assembly_part& part,
                                              const conversion& by, std::uint32_t block) {
  constexpr std::uint32_t tile = block_threads * groups_a_thread;
  for (std::uint64_t first = std::uint64_t{block} * tile + threadIdx.x; first < part.items;
       first += std::uint64_t{part.blocks} * tile) {
    row_item places[groups_a_thread];
    uint4 vectors[groups_a_thread];
#pragma unroll
    for (std::uint32_t i = 0; i < groups_a_thread; ++i) {
      const std::uint64_t item = first + i * block_threads;
      // Threads past the end load the last item again, so that loads need no branch.
      places[i] = split(part, item < part.items ? item : part.items - 1);
      const std::byte* const row =
          sample_row(frame, part, places[i].row, source_of(frame, places[i].row));
      vectors[i] = load_vector<uint4>(row, places[i].item);
    }
#pragma unroll
    for (std::uint32_t i = 0; i < groups_a_thread; ++i) {
      if (first + i * block_threads < part.items)
        widen<T>(by, vectors[i], slot_row(frame, part, places[i].row),
                 places[i].item * wide_elements);
    }
  }
}

}  // namespace feedline::detail
