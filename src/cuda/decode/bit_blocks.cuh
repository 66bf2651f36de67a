#pragma once

#include "codecs/lz/bit_blocks.hpp"
#include "cuda/decode/kernels.hpp"
#include "cuda/decode/tasks.cuh"
#include "cuda/kernel/block_warp.cuh"

#include <cstdint>

namespace feedline::detail {

/// Warps that share a load's blocks, which are small and many.
inline constexpr std::uint32_t bit_block_warps = 8;

/// Decodes a warp's share of a load that the bit shuffle compressed. A warp is a thread block.
/// @param decode Decodes a block: like that of `each_framed_block`.
template <class Decode>
__device__ void decode_share(const decode_frame& frame, std::uint32_t step, decode_operation does,
                             block_warp& warp, Decode decode) {
  const std::uint32_t number = blockIdx.x / bit_block_warps;
  const decode_task task = task_of(frame, number, step);
  if (!is_task(task, does)) return;
  const coded_block whole = block_of(frame, number, task);
  const block_share share{blockIdx.x % bit_block_warps, bit_block_warps};
  const bit_blocks_header header = read_bit_blocks_header(whole, task.element_bytes);
  const bool good = decode_bit_blocks(warp, header, whole, share, decode);
  if (threadIdx.x != 0) return;
  if (share.first == 0) frame.said[number] = header.elements;
  if (!good) frame.bad[number] = 1;
}

}  // namespace feedline::detail
