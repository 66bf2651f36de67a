#pragma once

#include "codecs/blosc/frame.hpp"
#include "cuda/decode/kernels.hpp"
#include "cuda/decode/tasks.cuh"
#include "cuda/kernel/block_warp.cuh"

#include <cstdint>

namespace feedline::detail {

/// Warps that share a load's streams.
inline constexpr std::uint32_t blosc_warps = 8;

/// Decodes a warp's share of a load that is a frame of Blosc. A warp is a thread block.
/// @param decode Decodes a stream: like that of `decode_blosc_streams`.
template <class Decode>
__device__ void decode_blosc_share(const decode_frame& frame, std::uint32_t step,
                                   decode_operation does, blosc_compressor compressor,
                                   block_warp& warp, Decode decode) {
  const std::uint32_t number = blockIdx.x / blosc_warps;
  const decode_task task = task_of(frame, number, step);
  if (!is_task(task, does)) return;
  const coded_block whole = block_of(frame, number, task);
  const block_share share{blockIdx.x % blosc_warps, blosc_warps};
  const blosc_frame header = read_blosc_frame(whole);
  const bool good = decode_blosc_streams(warp, header, whole, share, compressor, decode);
  if (threadIdx.x != 0) return;
  if (share.first == 0) {
    frame.said[number] = header.block_bytes;
    frame.said[frame.count + number] =
        header.element_bytes << 8U | static_cast<std::uint32_t>(header.shuffle);
  }
  if (!good) frame.bad[number] = 1;
}

}  // namespace feedline::detail
