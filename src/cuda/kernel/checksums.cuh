#pragma once

#include "cuda/kernel/warp.cuh"

#include <cstddef>
#include <cstdint>

namespace feedline::detail {

// Checksums of a block's bytes, each computed by all threads of a thread block.

inline constexpr std::uint32_t decode_threads = 256;

/// Two sums over all threads; every thread gets both. @param modulo Keeps the sums small.
__device__ inline ulonglong2 sum_of_threads(std::uint64_t a, std::uint64_t b,
                                            std::uint32_t modulo) {
  __shared__ ulonglong2 of_warps[decode_threads / 32];
  a %= modulo;
  b %= modulo;
  for (int distance = 16; distance > 0; distance /= 2) {
    a += __shfl_down_sync(0xFFFFFFFF, a, distance);
    b += __shfl_down_sync(0xFFFFFFFF, b, distance);
  }
  if (threadIdx.x % 32 == 0) of_warps[threadIdx.x / 32] = make_ulonglong2(a, b);
  __syncthreads();
  ulonglong2 sums = make_ulonglong2(0, 0);
  for (const ulonglong2& each : of_warps) {
    sums.x += each.x;
    sums.y += each.y;
  }
  __syncthreads();  // allows the next call
  return make_ulonglong2(sums.x % modulo, sums.y % modulo);
}

/// Sum, by xor, of all threads' values. All threads of the block must call it.
__device__ inline std::uint32_t xor_of_threads(std::uint32_t value) {
  __shared__ std::uint32_t sum;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  for (std::uint32_t apart = warp_team::width / 2; apart > 0; apart /= 2)
    value ^= __shfl_xor_sync(warp_team::all, value, apart);
  if (threadIdx.x % warp_team::width == 0 && value != 0) atomicXor(&sum, value);
  __syncthreads();
  const std::uint32_t all = sum;
  __syncthreads();  // allows the next call
  return all;
}

/// Adler-32 (RFC 1950). The low half is 1 and the sum of the bytes, the high half the sum of those
/// sums after each byte, both modulo 65521. The high half counts a byte as often as there are bytes
/// from it on.
/// @param bytes Below 2^31: a thread's sums then fit in 64 bits.
__device__ inline std::uint32_t adler32(const std::byte* from, std::uint32_t bytes) {
  constexpr std::uint32_t modulo = 65521;
  std::uint64_t first = 0;
  std::uint64_t second = 0;
  const auto add = [&](std::uint32_t at) {
    const auto byte = static_cast<std::uint32_t>(from[at]);
    first += byte;
    second += std::uint64_t{bytes - at} * byte;
  };
  const auto to_word = static_cast<std::uint32_t>(-reinterpret_cast<std::uintptr_t>(from) & 3U);
  const std::uint32_t begin = min(to_word, bytes);
  const std::uint32_t words = (bytes - begin) / 4;
  const auto* const word = reinterpret_cast<const std::uint32_t*>(from + begin);
  for (std::uint32_t i = threadIdx.x; i < words; i += decode_threads) {
    const std::uint32_t four = word[i];
    const std::uint32_t b0 = four & 0xFFU;
    const std::uint32_t b1 = four >> 8U & 0xFFU;
    const std::uint32_t b2 = four >> 16U & 0xFFU;
    const std::uint32_t b3 = four >> 24U;
    const std::uint32_t sum = b0 + b1 + b2 + b3;
    first += sum;
    second += std::uint64_t{bytes - begin - 4 * i} * sum - (b1 + 2 * b2 + 3 * b3);
  }
  if (threadIdx.x < begin) add(threadIdx.x);
  const std::uint32_t behind = begin + 4 * words;
  if (threadIdx.x < bytes - behind) add(behind + threadIdx.x);
  const ulonglong2 sums = sum_of_threads(first, second, modulo);
  const std::uint64_t low = (sums.x + 1) % modulo;
  const std::uint64_t high = (sums.y + bytes) % modulo;
  return static_cast<std::uint32_t>(high << 16U | low);
}

/// Fletcher's checksum as hdf5/filter/fletcher32.cpp explains it, over words in memory order.
/// @param from Aligned to 4 bytes.
__device__ inline std::uint32_t fletcher32(const std::byte* from, std::uint32_t bytes) {
  constexpr std::uint32_t modulo = 65535;
  const std::uint32_t words = bytes / 2 + bytes % 2;
  std::uint64_t first = 0;
  std::uint64_t second = 0;
  std::uint32_t seen = 0;
  const auto add = [&](std::uint32_t at, std::uint32_t word) {
    seen |= word;
    first += word;
    second += std::uint64_t{(words - at) % modulo} * word;
  };
  const auto* const pairs = reinterpret_cast<const std::uint32_t*>(from);
  const std::uint32_t whole = bytes / 4;
  for (std::uint32_t i = threadIdx.x; i < whole; i += decode_threads) {
    const std::uint32_t pair = pairs[i];
    add(2 * i, pair & 0xFFFFU);
    add(2 * i + 1, pair >> 16U);
  }
  if (threadIdx.x == 0) {
    for (std::uint32_t at = 4 * whole; at < bytes; at += 2) {
      auto word = static_cast<std::uint32_t>(from[at]);
      if (at + 1 < bytes) word |= static_cast<std::uint32_t>(from[at + 1]) << 8U;
      add(at / 2, word);
    }
  }
  const ulonglong2 sums = sum_of_threads(first, second, modulo);
  const bool is_zero = __syncthreads_or(static_cast<int>(seen != 0)) == 0;
  const auto folded = [&](std::uint64_t sum) {  // 65535 for every multiple of it but 0
    return sum == 0 && !is_zero ? std::uint64_t{modulo} : sum;
  };
  return static_cast<std::uint32_t>(folded(sums.y) << 16U | folded(sums.x));
}

}  // namespace feedline::detail
