#include "codecs/lz4/decoder.hpp"
#include "cuda/decode/bit_blocks.cuh"
#include "cuda/decode/blosc.cuh"
#include "cuda/decode/kernels.hpp"
#include "cuda/decode/tasks.cuh"
#include "cuda/kernel/block_warp.cuh"
#include "cuda/load_kernels.hpp"

namespace feedline::detail {
namespace {

/// Warps that share a load's blocks. If it has only one block, the other warps end at once.
constexpr std::uint32_t warps = 4;

/// A warp is a thread block by itself, so that it does not wait for the longest block of other
/// warps.
__global__ void __launch_bounds__(block_warp::lanes)
    lz4_kernel(const __grid_constant__ decode_frame frame, std::uint32_t step) {
  __shared__ lz4_tables<block_warp> tables;
  const std::uint32_t number = blockIdx.x / warps;
  const decode_task task = task_of(frame, number, step);
  if (!is_task(task, decode_operation::decode_lz4)) return;
  block_warp warp;
  const coded_block whole = block_of(frame, number, task);
  if (!decode_lz4_frame(warp, tables, whole, {blockIdx.x % warps, warps}) && threadIdx.x == 0)
    frame.bad[number] = 1;
}

__global__ void __launch_bounds__(block_warp::lanes)
    lz4_bits_kernel(const __grid_constant__ decode_frame frame, std::uint32_t step) {
  __shared__ lz4_tables<block_warp> tables;
  block_warp warp;
  decode_share(frame, step, decode_operation::decode_lz4_bits, warp,
               [&](const coded_block& block) { return decode_lz4_block(warp, tables, block); });
}

__global__ void __launch_bounds__(block_warp::lanes)
    blosc_lz4_kernel(const __grid_constant__ decode_frame frame, std::uint32_t step) {
  __shared__ lz4_tables<block_warp> tables;
  block_warp warp;
  decode_blosc_share(
      frame, step, decode_operation::decode_blosc_lz4, blosc_compressor::lz4, warp,
      [&](const coded_block& block) { return decode_lz4_block(warp, tables, block); });
}

}  // namespace

void load_lz4_kernels() {
  load_kernels(lz4_kernel, lz4_bits_kernel, blosc_lz4_kernel);
}

void issue_lz4(const decode_frame& frame, std::uint32_t step, cudaStream_t stream) {
  launch(lz4_kernel, frame.count * warps, block_warp::lanes, stream, decode_frame{frame}, step);
}

void issue_lz4_bits(const decode_frame& frame, std::uint32_t step, cudaStream_t stream) {
  launch(lz4_bits_kernel, frame.count * bit_block_warps, block_warp::lanes, stream,
         decode_frame{frame}, step);
}

void issue_blosc_lz4(const decode_frame& frame, std::uint32_t step, cudaStream_t stream) {
  launch(blosc_lz4_kernel, frame.count * blosc_warps, block_warp::lanes, stream,
         decode_frame{frame}, step);
}

}  // namespace feedline::detail
