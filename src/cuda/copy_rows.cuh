#pragma once

#include "cuda/rows.cuh"

#include <cstddef>
#include <cstdint>

namespace feedline::detail {

/// Copies samples' rows into the slot: one block's share of a part. All of a thread's sources are
/// asked for before the first is used, and all its vectors before the first is stored.
template <class Vector>
__device__ __forceinline__ void copy_samples(const slot_frame& frame, const assembly_part& part,
                                             std::uint32_t block) {
  constexpr std::uint32_t tile = block_threads * vectors_a_thread;
  for (std::uint64_t first = std::uint64_t{block} * tile + threadIdx.x; first < part.items;
       first += std::uint64_t{part.blocks} * tile) {
    row_item places[vectors_a_thread];
    std::uint32_t sources[vectors_a_thread];
    const std::byte* rows[vectors_a_thread];
    Vector vectors[vectors_a_thread];
#pragma unroll
    for (std::uint32_t i = 0; i < vectors_a_thread; ++i) {
      const std::uint64_t item = first + i * block_threads;
      // Past the end, the item before it once more: loads need no branch.
      places[i] = split(part, item < part.items ? item : part.items - 1);
      sources[i] = __ldg(frame.sources + places[i].row);
    }
#pragma unroll
    for (std::uint32_t i = 0; i < vectors_a_thread; ++i) {
      rows[i] = sample_row(frame, part, places[i].row, sources[i]);
      places[i].item = vector_of<Vector>(part, rows[i], places[i].item);
    }
#pragma unroll
    for (std::uint32_t i = 0; i < vectors_a_thread; ++i) {
      if (places[i].item < part.row_vectors)
        vectors[i] = load_vector<Vector>(rows[i], places[i].item);
    }
#pragma unroll
    for (std::uint32_t i = 0; i < vectors_a_thread; ++i) {
      if (places[i].item < part.row_vectors && first + i * block_threads < part.items) {
        reinterpret_cast<Vector*>(slot_row(frame, part, places[i].row))[places[i].item] =
            vectors[i];
      }
    }
  }
}

/// Copies rows that arrived into the kept ones: one block's share of a part.
template <class Vector>
__device__ __forceinline__ void keep_rows(const slot_frame& frame, const assembly_part& part,
                                          std::uint32_t block) {
  constexpr std::uint32_t tile = block_threads * vectors_a_thread;
  for (std::uint64_t first = std::uint64_t{block} * tile + threadIdx.x; first < part.items;
       first += std::uint64_t{part.blocks} * tile) {
    kept_pair rows[vectors_a_thread];
    std::uint32_t places[vectors_a_thread];
    Vector vectors[vectors_a_thread];
#pragma unroll
    for (std::uint32_t i = 0; i < vectors_a_thread; ++i) {
      const std::uint64_t item = first + i * block_threads;
      rows[i] = {nullptr, nullptr};
      if (item < part.items) {
        const row_item place = split(part, item);
        places[i] = place.item;
        rows[i] = row_to_keep(frame, part, place.row);
      }
    }
#pragma unroll
    for (std::uint32_t i = 0; i < vectors_a_thread; ++i) {
      if (rows[i].from != nullptr) vectors[i] = load_vector<Vector>(rows[i].from, places[i]);
    }
#pragma unroll
    for (std::uint32_t i = 0; i < vectors_a_thread; ++i) {
      if (rows[i].from != nullptr) reinterpret_cast<Vector*>(rows[i].to)[places[i]] = vectors[i];
    }
  }
}

template <class Vector>
__device__ __forceinline__ void move_rows(const slot_frame& frame, const assembly_part& part,
                                          std::uint32_t block) {
  if (part.kind == part_kind::keep) {
    keep_rows<Vector>(frame, part, block);
  } else {
    copy_samples<Vector>(frame, part, block);
  }
}

/// Does one block's share of a part that copies or keeps.
__device__ inline void move_rows(const slot_frame& frame, const assembly_part& part,
                                 std::uint32_t block) {
  switch (part.vector_bytes) {
    case 16:
      return move_rows<uint4>(frame, part, block);
    case 8:
      return move_rows<uint2>(frame, part, block);
    case 4:
      return move_rows<std::uint32_t>(frame, part, block);
    case 2:
      return move_rows<std::uint16_t>(frame, part, block);
    default:
      return move_rows<std::uint8_t>(frame, part, block);
  }
}

}  // namespace feedline::detail
