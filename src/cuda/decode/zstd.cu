#include "codecs/zstd/decoder.hpp"
#include "cuda/decode/bit_blocks.cuh"
#include "cuda/decode/blosc.cuh"
#include "cuda/decode/kernels.hpp"
#include "cuda/decode/tasks.cuh"
#include "cuda/kernel/block_warp.cuh"
#include "cuda/load_kernels.hpp"

namespace feedline::detail {
namespace {

/// A warp decodes a load's frames. A warp is a thread block by itself, so that it does not wait for
/// the longest frames of other warps.
__global__ void __launch_bounds__(block_warp::lanes)
    zstd_kernel(const __grid_constant__ decode_frame frame, std::uint32_t step) {
  __shared__ zstd_tables<block_warp> tables;
  const std::uint32_t number = blockIdx.x;
  const decode_task task = task_of(frame, number, step);
  if (task.does != decode_operation::decode_zstd) return;
  block_warp warp;
  const coded_block whole = block_of(frame, number, task);
  if (!decode_zstd_block(warp, tables, whole) && threadIdx.x == 0) frame.bad[number] = 1;
}

__global__ void __launch_bounds__(block_warp::lanes)
    zstd_bits_kernel(const __grid_constant__ decode_frame frame, std::uint32_t step) {
  __shared__ zstd_tables<block_warp> tables;
  block_warp warp;
  decode_share(frame, step, decode_operation::decode_zstd_bits, warp,
               [&](const coded_block& block) { return decode_zstd_block(warp, tables, block); });
}

__global__ void __launch_bounds__(block_warp::lanes)
    blosc_zstd_kernel(const __grid_constant__ decode_frame frame, std::uint32_t step) {
  __shared__ zstd_tables<block_warp> tables;
  block_warp warp;
  decode_blosc_share(
      frame, step, decode_operation::decode_blosc_zstd, blosc_compressor::zstd, warp,
      [&](const coded_block& block) { return decode_zstd_block(warp, tables, block); });
}

}  // namespace

void load_zstd_kernels() {
  load_kernels(zstd_kernel, zstd_bits_kernel, blosc_zstd_kernel);
}

void issue_zstd(const decode_frame& frame, std::uint32_t step, cudaStream_t stream) {
  launch(zstd_kernel, frame.count, block_warp::lanes, stream, decode_frame{frame}, step);
}

void issue_zstd_bits(const decode_frame& frame, std::uint32_t step, cudaStream_t stream) {
  launch(zstd_bits_kernel, frame.count * bit_block_warps, block_warp::lanes, stream,
         decode_frame{frame}, step);
}

void issue_blosc_zstd(const decode_frame& frame, std::uint32_t step, cudaStream_t stream) {
  launch(blosc_zstd_kernel, frame.count * blosc_warps, block_warp::lanes, stream,
         decode_frame{frame}, step);
}

}  // namespace feedline::detail
