#include "codecs/inflate/zlib.hpp"
#include "cuda/decode/blosc.cuh"
#include "cuda/decode/kernels.hpp"
#include "cuda/kernel/block_warp.cuh"
#include "cuda/kernel/warp.cuh"
#include "cuda/load_kernels.hpp"

namespace feedline::detail {
namespace {

__global__ void __launch_bounds__(block_warp::lanes)
    blosc_zlib_kernel(const __grid_constant__ decode_frame frame, std::uint32_t step) {
  __shared__ inflate_tables tables;
  block_warp warp;
  decode_blosc_share(
      frame, step, decode_operation::decode_blosc_zlib, blosc_compressor::zlib, warp,
      [&](const coded_block& block) { return decode_zlib_block<warp_team>(tables, block); });
}

}  // namespace

void load_blosc_zlib_kernels() {
  load_kernels(blosc_zlib_kernel);
}

void issue_blosc_zlib(const decode_frame& frame, std::uint32_t step, cudaStream_t stream) {
  launch(blosc_zlib_kernel, frame.count * blosc_warps, block_warp::lanes, stream,
         decode_frame{frame}, step);
}

}  // namespace feedline::detail
