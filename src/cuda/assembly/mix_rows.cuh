#pragma once

#include "cuda/assembly/elements.cuh"
#include "cuda/assembly/mix_plan.hpp"
#include "cuda/assembly/rows.cuh"
#include "device/sample_mix.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace feedline::detail {

/// Two partners' rows, and how each is mixed.
struct mixed_pair {
  std::byte* first;
  std::byte* second;
  sample_mix of_first;
  sample_mix of_second;
};

template <class T>
__device__ __forceinline__ T from_float(float value) {
  if constexpr (std::is_same_v<T, float>) {
    return value;
  } else if constexpr (std::is_same_v<T, f16_word>) {
    return {to_half_bits(value, element_type::f16)};
  } else {
    return {to_half_bits(value, element_type::bf16)};
  }
}

/// The draw of another lane of the warp.
__device__ __forceinline__ sample_mix of_lane(const sample_mix& own, int lane) {
  constexpr unsigned all = 0xFFFF'FFFF;
  return {__shfl_sync(all, own.own, lane),
          {__shfl_sync(all, own.box.top, lane), __shfl_sync(all, own.box.left, lane),
           __shfl_sync(all, own.box.height, lane), __shfl_sync(all, own.box.width, lane)}};
}

/// The pair of a warp's item. All lanes draw, each for one of the two samples.
__device__ __forceinline__ mixed_pair pair_of(const slot_frame& frame, const mix_part& part,
                                              std::uint32_t pair, std::uint32_t lane) {
  const std::uint32_t batch = part.batch_pairs.quotient(pair);
  const std::uint32_t place = 2 * (pair - batch * part.batch_pairs.divisor());
  const auto bits_at = [&](std::uint32_t at) {
    return random_bits_of_sample(frame, batch * frame.batch_size.divisor() + at);
  };
  sample_mix own =
      mix_of(part.by, mixing_bits(part.by.draws, part.epoch_bits, part.first_batch + batch,
                                  place + lane % 2, bits_at));
  if (!part.cuts) own.box = {};
  std::byte* const first =
      part.to + std::size_t{batch} * frame.batch_bytes + std::size_t{place} * part.to_row_bytes;
  return {first, first + part.to_row_bytes, of_lane(own, 0), of_lane(own, 1)};
}

/// The elements of a vector that a sample takes from its partner, a bit each.
template <std::uint32_t Count>
__device__ __forceinline__ std::uint32_t taken_of(const mix_part& part, const image_part& box,
                                                  std::uint32_t element) {
  const std::uint32_t row = part.line.quotient(element);
  const std::uint32_t left = box.left * part.by.pixel_elements;
  const std::uint32_t width = box.width * part.by.pixel_elements;
  std::uint32_t y = row - part.plane.quotient(row) * part.plane.divisor();
  std::uint32_t x = element - row * part.line.divisor();
  std::uint32_t taken = 0;
#pragma unroll
  for (std::uint32_t i = 0; i < Count; ++i) {
    if (y - box.top < box.height && x - left < width) taken |= 1U << i;
    if (++x == part.line.divisor()) {
      x = 0;
      if (++y == part.plane.divisor()) y = 0;
    }
  }
  return taken;
}

/// Stores a sample's mixed elements. @param taken The bits of elements taken from the partner, if a
/// box is cut.
template <class T, std::uint32_t Count>
__device__ __forceinline__ void store_mixed(std::byte* to, std::uint32_t vector,
                                            const sample_mix& mix, std::uint32_t taken,
                                            const T (&own)[Count], const T (&other)[Count]) {
  using word = word_of_bytes<Count * sizeof(T)>;
  T mixed[Count];
#pragma unroll
  for (std::uint32_t i = 0; i < Count; ++i) {
    if (mix.cuts()) {
      mixed[i] = (taken >> i & 1U) != 0 ? other[i] : own[i];
    } else {
      mixed[i] = from_float<T>(mixed_value(mix.own, to_float(own[i]), to_float(other[i])));
    }
  }
  word bits;
  memcpy(&bits, mixed, sizeof bits);
  reinterpret_cast<word*>(to)[vector] = bits;
}

/// Reads both rows, then writes those that change: each element of a row belongs to one thread.
template <class T, std::uint32_t Count>
__device__ __forceinline__ void mix_vector(const mix_part& part, const mixed_pair& pair,
                                           std::uint32_t element) {
  using word = word_of_bytes<Count * sizeof(T)>;
  constexpr std::uint32_t all = (1U << Count) - 1;
  const auto touched = [&](const sample_mix& mix) {
    return mix.cuts() ? taken_of<Count>(part, mix.box, element) : mix.changes() ? all : 0U;
  };
  const std::uint32_t in_first = touched(pair.of_first);
  const std::uint32_t in_second = touched(pair.of_second);
  if ((in_first | in_second) == 0) return;
  const std::uint32_t vector = element / Count;
  const word bits_of_first = reinterpret_cast<const word*>(pair.first)[vector];
  const word bits_of_second = reinterpret_cast<const word*>(pair.second)[vector];
  T first[Count];
  T second[Count];
  memcpy(first, &bits_of_first, sizeof first);
  memcpy(second, &bits_of_second, sizeof second);
  if (in_first != 0) store_mixed<T>(pair.first, vector, pair.of_first, in_first, first, second);
  if (in_second != 0) store_mixed<T>(pair.second, vector, pair.of_second, in_second, second, first);
}

/// Mixes partners' rows in place: one block's share of a part, one warp an item.
template <class T, std::uint32_t Count>
__device__ __forceinline__ void mix_items(const slot_frame& frame, const mix_part& part,
                                          std::uint32_t block) {
  const std::uint32_t lane = threadIdx.x % warp_threads;
  for (std::uint64_t each = std::uint64_t{block} * block_warps + threadIdx.x / warp_threads;
       each < part.items; each += std::uint64_t{part.blocks} * block_warps) {
    const row_item place = split(part, each);
    const mixed_pair pair = pair_of(frame, part, place.row, lane);
    if (!pair.of_first.changes() && !pair.of_second.changes()) continue;
    const std::uint32_t first = place.item * part.item_elements;
    const std::uint32_t end = min(first + part.item_elements, part.elements);
    for (std::uint32_t at = first + lane * Count; at < end; at += warp_threads * Count)
      mix_vector<T, Count>(part, pair, at);
  }
}

template <class T>
__device__ __forceinline__ void mix_samples(const slot_frame& frame, const mix_part& part,
                                            std::uint32_t block) {
  if (part.vector_bytes == widest_vector) return mix_items<T, 16 / sizeof(T)>(frame, part, block);
  mix_items<T, 1>(frame, part, block);
}

}  // namespace feedline::detail
