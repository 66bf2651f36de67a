#pragma once

#include "cuda/assembly/rows.cuh"

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace feedline::detail {

/// Copies samples' rows into the slot: one block's share of a part. A thread requests all its
/// sources before it uses the first, and all its vectors before it stores the first.
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
      // Threads past the end load the last item again, so that loads need no branch.
      places[i] = split(part, item < part.items ? item : part.items - 1);
      sources[i] = source_of(frame, places[i].row);
    }
#pragma unroll
    for (std::uint32_t i = 0; i < vectors_a_thread; ++i)
      rows[i] = sample_row(frame, part, places[i].row, sources[i]);
#pragma unroll
    for (std::uint32_t i = 0; i < vectors_a_thread; ++i)
      vectors[i] = load_vector<Vector>(rows[i], places[i].item);
#pragma unroll
    for (std::uint32_t i = 0; i < vectors_a_thread; ++i) {
      if (first + i * block_threads < part.items) {
        // These bytes are not read again here, so they need not evict others from the cache.
        __stcs(reinterpret_cast<Vector*>(slot_row(frame, part, places[i].row)) + places[i].item,
               vectors[i]);
      }
    }
  }
}

/// Stores the bytes of a piece that belong to the row, by words. They are not read again here.
template <class Word>
__device__ __forceinline__ void store_piece(const line_piece& piece, const uint4& vector,
                                            std::int32_t row_bytes, std::byte* row) {
  constexpr auto word_bytes = static_cast<std::int32_t>(sizeof(Word));
  Word words[16 / word_bytes];
  memcpy(words, &vector, sizeof vector);
#pragma unroll
  for (std::int32_t i = 0; i < 16 / word_bytes; ++i) {
    const std::int32_t at = piece.offset + i * word_bytes;
    if (at >= 0 && at < row_bytes) __stcs(reinterpret_cast<Word*>(row + at), words[i]);
  }
}

/// The same as `copy_samples`, for rows that are read over the bus: whole lines are read, 16 bytes
/// a thread, whatever the rows' size and address, and stored by words of any size that fits. A
/// warp's lines are consecutive, and nothing stays in the cache, so that a few blocks fill the bus.
template <class Word>
__device__ __forceinline__ void copy_lines(const slot_frame& frame, const assembly_part& part,
                                           std::uint32_t block) {
  constexpr std::uint32_t tile = block_threads * vectors_a_thread;
  const std::uint32_t warp = threadIdx.x / warp_threads;
  const std::uint32_t in_tile = warp * warp_threads * vectors_a_thread + threadIdx.x % warp_threads;
  for (std::uint64_t first = std::uint64_t{block} * tile + in_tile; first < part.items;
       first += std::uint64_t{part.blocks} * tile) {
    row_item places[vectors_a_thread];
    std::uint32_t sources[vectors_a_thread];
    line_piece pieces[vectors_a_thread];
    uint4 vectors[vectors_a_thread];
#pragma unroll
    for (std::uint32_t i = 0; i < vectors_a_thread; ++i) {
      const std::uint64_t item = first + i * warp_threads;
      places[i] = split(part, item < part.items ? item : part.items - 1);
      sources[i] = source_of(frame, places[i].row);
    }
#pragma unroll
    for (std::uint32_t i = 0; i < vectors_a_thread; ++i) {
      const std::byte* const row = sample_row(frame, part, places[i].row, sources[i]);
      pieces[i] = piece_of(part, row, places[i].item);
      pieces[i].wanted = pieces[i].wanted && first + i * warp_threads < part.items;
    }
#pragma unroll
    for (std::uint32_t i = 0; i < vectors_a_thread; ++i) {
      if (pieces[i].wanted) vectors[i] = __ldcs(reinterpret_cast<const uint4*>(pieces[i].from));
    }
#pragma unroll
    for (std::uint32_t i = 0; i < vectors_a_thread; ++i) {
      if (pieces[i].wanted) {
        store_piece<Word>(pieces[i], vectors[i], static_cast<std::int32_t>(part.row_bytes),
                          slot_row(frame, part, places[i].row));
      }
    }
  }
}

/// Copies rows that arrived into the cached rows: one block's share of a part.
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
  } else if (part.by_lines) {
    copy_lines<Vector>(frame, part, block);
  } else {
    copy_samples<Vector>(frame, part, block);
  }
}

/// Does one block's share of a part that copies samples' rows or caches rows.
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
