#include "cuda/decode/block_warp.cuh"
#include "cuda/decode/kernels.hpp"
#include "cuda/decode/tasks.cuh"
#include "device/zstd/decoder.hpp"

namespace feedline::detail {
namespace {

/// A load's frames by a warp, which is a thread block of its own: none waits for the longest of
/// others.
__global__ void __launch_bounds__(block_warp::lanes)
    zstd_kernel(const __grid_constant__ decode_frame frame, std::uint32_t step) {
  __shared__ zstd_tables<block_warp> tables;
  const std::uint32_t number = blockIdx.x;
  const decode_task task = task_of(frame, number, step);
  if (task.does != decode_operation::decode_zstd) return;
  const block_load& load = frame.loads[number];
  block_warp warp;
  zstd_decoder<block_warp> decoder{warp,
                                   address_of(frame, number, load, task.from),
                                   static_cast<std::uint32_t>(task.bytes),
                                   address_of(frame, number, load, task.to),
                                   static_cast<std::uint32_t>(task.to_bytes),
                                   tables};
  if (!decoder.run() && threadIdx.x == 0) frame.bad[number] = 1;
}

}  // namespace

void issue_zstd(const decode_frame& frame, std::uint32_t step, cudaStream_t stream) {
  launch(zstd_kernel, frame.count, block_warp::lanes, stream, decode_frame{frame}, step);
}

}  // namespace feedline::detail
