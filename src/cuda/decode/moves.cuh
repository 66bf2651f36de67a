#pragma once

#include "codecs/blosc/frame.hpp"
#include "cuda/kernel/checksums.cuh"

#include <cstddef>
#include <cstdint>

namespace feedline::detail {

// Functions that move a block's bytes, in tiles that thread blocks share.

inline constexpr std::uint32_t decode_tile_bytes = 16 * 1024;

/// A thread block's share of a load: tiles `first`, `first + step` and so on.
struct tile_share {
  std::uint32_t first;
  std::uint32_t step;
};

template <class Word>
__device__ void copy_words(std::byte* to, const std::byte* from, std::uint32_t bytes) {
  const std::uint32_t words = bytes / sizeof(Word);
  for (std::uint32_t i = threadIdx.x; i < words; i += decode_threads)
    reinterpret_cast<Word*>(to)[i] = reinterpret_cast<const Word*>(from)[i];
  for (std::uint32_t i = words * sizeof(Word) + threadIdx.x; i < bytes; i += decode_threads)
    to[i] = from[i];
}

/// Copies by the widest words that both addresses allow.
__device__ inline void copy_bytes(std::byte* to, const std::byte* from, std::uint32_t bytes) {
  const auto address =
      reinterpret_cast<std::uintptr_t>(to) | reinterpret_cast<std::uintptr_t>(from);
  if (address % 16 == 0)
    copy_words<uint4>(to, from, bytes);
  else if (address % 4 == 0)
    copy_words<std::uint32_t>(to, from, bytes);
  else if (address % 2 == 0)
    copy_words<std::uint16_t>(to, from, bytes);
  else
    copy_words<std::byte>(to, from, bytes);
}

__device__ inline void copy_tiles(std::byte* to, const std::byte* from, std::uint32_t bytes,
                                  tile_share share) {
  for (std::uint64_t at = std::uint64_t{share.first} * decode_tile_bytes; at < bytes;
       at += std::uint64_t{share.step} * decode_tile_bytes)
    copy_bytes(to + at, from + at, min(decode_tile_bytes, static_cast<std::uint32_t>(bytes - at)));
}

/// Undoes the byte shuffle of whole elements, through shared memory.
/// @tparam Size Bytes of an element; 0: `size` is used, at most a sixteenth of a tile.
template <std::uint32_t Size>
__device__ void join_byte_tiles(std::byte* to, const std::byte* from, std::uint32_t count,
                                std::uint32_t size, tile_share share, std::byte* shared) {
  if (Size != 0) size = Size;
  const std::uint32_t elements = decode_tile_bytes / size / 16 * 16;
  for (std::uint64_t begin = std::uint64_t{share.first} * elements; begin < count;
       begin += std::uint64_t{share.step} * elements) {
    const auto n = static_cast<std::uint32_t>(min(std::uint64_t{elements}, count - begin));
    for (std::uint32_t plane = 0; plane < size; ++plane)
      copy_bytes(shared + plane * elements, from + std::uint64_t{plane} * count + begin, n);
    __syncthreads();
    const auto byte_at = [&](std::uint32_t at) {
      const std::uint32_t element = at / size;
      return static_cast<std::uint32_t>(shared[(at - element * size) * elements + element]);
    };
    std::byte* const out = to + begin * size;
    const std::uint32_t bytes = n * size;
    const std::uint32_t words = reinterpret_cast<std::uintptr_t>(out) % 4 == 0 ? bytes / 4 : 0;
    for (std::uint32_t i = threadIdx.x; i < words; i += decode_threads)
      reinterpret_cast<std::uint32_t*>(out)[i] = byte_at(4 * i) | byte_at(4 * i + 1) << 8U |
                                                 byte_at(4 * i + 2) << 16U |
                                                 byte_at(4 * i + 3) << 24U;
    for (std::uint32_t i = 4 * words + threadIdx.x; i < bytes; i += decode_threads)
      out[i] = static_cast<std::byte>(byte_at(i));
    __syncthreads();
  }
}

/// Undoes the byte shuffle; bytes after the last whole element are copied unchanged.
__device__ inline void join_bytes(std::byte* to, const std::byte* from, std::uint32_t bytes,
                                  std::uint32_t size, tile_share share, std::byte* shared) {
  const std::uint32_t count = bytes / size;
  const std::uint32_t whole = count * size;
  switch (size) {
    case 2:
      join_byte_tiles<2>(to, from, count, size, share, shared);
      break;
    case 4:
      join_byte_tiles<4>(to, from, count, size, share, shared);
      break;
    case 8:
      join_byte_tiles<8>(to, from, count, size, share, shared);
      break;
    default:
      if (size <= decode_tile_bytes / 16) {
        join_byte_tiles<0>(to, from, count, size, share, shared);
      } else {
        for (std::uint64_t i = share.first * decode_threads + threadIdx.x; i < whole;
             i += std::uint64_t{share.step} * decode_threads)
          to[i] = from[i % size * count + i / size];
      }
  }
  if (share.first == 0) copy_bytes(to + whole, from + whole, bytes - whole);
}

/// Transposes 8 x 8 bits: row j's bit i becomes row i's bit j, where row j is byte j from the
/// lowest (Hacker's Delight, 7-3).
__device__ inline std::uint64_t transposed_bits(std::uint64_t rows) {
  std::uint64_t swapped = (rows ^ (rows >> 7U)) & 0x00AA00AA00AA00AAULL;
  rows ^= swapped ^ (swapped << 7U);
  swapped = (rows ^ (rows >> 14U)) & 0x0000CCCC0000CCCCULL;
  rows ^= swapped ^ (swapped << 14U);
  swapped = (rows ^ (rows >> 28U)) & 0x00000000F0F0F0F0ULL;
  return rows ^ swapped ^ (swapped << 28U);
}

/// Undoes the bit shuffle of one block of elements: each thread makes a byte of eight elements.
__device__ inline void join_bit_planes(std::byte* to, const std::byte* from, std::uint32_t count,
                                       std::uint32_t size) {
  const std::uint32_t width = count / 8;
  for (std::uint32_t i = threadIdx.x; i < size * width; i += decode_threads) {
    const std::uint32_t byte = i / width;
    const std::uint32_t column = i - byte * width;
    std::uint64_t rows = 0;
    for (std::uint32_t bit = 0; bit < 8; ++bit)
      rows |= static_cast<std::uint64_t>(from[(byte * 8 + bit) * width + column]) << (8 * bit);
    rows = transposed_bits(rows);
    for (std::uint32_t j = 0; j < 8; ++j)
      to[(8 * column + j) * size + byte] = static_cast<std::byte>(rows >> (8 * j));
  }
}

/// Undoes the bit shuffle; fewer than eight elements at the end are copied unchanged.
/// @param block Elements that were shuffled together, a multiple of 8; the last block may have
///              fewer.
__device__ inline void join_bits(std::byte* to, const std::byte* from, std::uint32_t bytes,
                                 std::uint32_t size, std::uint32_t block, tile_share share,
                                 std::byte* shared) {
  const std::uint32_t whole = bytes / size / 8 * 8;
  for (std::uint64_t begin = std::uint64_t{share.first} * block; begin < whole;
       begin += std::uint64_t{share.step} * block) {
    const auto n = static_cast<std::uint32_t>(min(std::uint64_t{block}, whole - begin));
    if (std::uint64_t{block} * size <= decode_tile_bytes) {
      join_bit_planes(shared, from + begin * size, n, size);
      __syncthreads();
      copy_bytes(to + begin * size, shared, n * size);
      __syncthreads();
    } else {
      join_bit_planes(to + begin * size, from + begin * size, n, size);
    }
  }
  const std::uint32_t done = whole * size;
  if (share.first == 0) copy_bytes(to + done, from + done, bytes - done);
}

/// Undoes the shuffle of a frame of Blosc, in each of its blocks by itself; a thread block takes a
/// block. @param block Bytes of a block. @param shuffle Bytes of an element, above 8 bits that say
/// which shuffle it was.
__device__ inline void join_blosc(std::byte* to, const std::byte* from, std::uint32_t bytes,
                                  std::uint32_t block, std::uint32_t shuffle, tile_share share,
                                  std::byte* shared) {
  const auto kind = static_cast<blosc_shuffle>(shuffle & 0xFFU);
  const std::uint32_t size = shuffle >> 8U;
  if (kind == blosc_shuffle::none) return copy_tiles(to, from, bytes, share);
  constexpr tile_share alone{0, 1};
  for (std::uint64_t begin = std::uint64_t{share.first} * block; begin < bytes;
       begin += std::uint64_t{share.step} * block) {
    const auto n = static_cast<std::uint32_t>(min(std::uint64_t{block}, bytes - begin));
    if (kind == blosc_shuffle::bytes)
      join_bytes(to + begin, from + begin, n, size, alone, shared);
    else if (n / size % 8 == 0)  // else Blosc shuffles nothing
      join_bits(to + begin, from + begin, n, size, n / size, alone, shared);
    else
      copy_bytes(to + begin, from + begin, n);
  }
}

}  // namespace feedline::detail
