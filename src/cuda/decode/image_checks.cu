#include "cuda/decode/kernels.hpp"
#include "cuda/decode/tasks.cuh"
#include "cuda/kernel/block_warp.cuh"
#include "image/jpeg/frame.hpp"
#include "image/jpeg/scan_segments.hpp"

namespace feedline::detail {
namespace {

/// A load's program, if it is an image that can be worked at.
__device__ const decode_program* program_of_image(const decode_frame& frame, std::uint32_t number) {
  if (frame.bad[number] != 0) return nullptr;
  const block_load& load = frame.loads[number];
  const decode_program& program = frame.programs[load.field];
  const decode_step& step = program.step[0];
  const bool is_image =
      step.does == decode_operation::decode_image && takes_step(step, load.skipped);
  return is_image ? &program : nullptr;
}

__device__ const std::uint8_t* file_of(const decode_frame& frame, const block_load& load) {
  return reinterpret_cast<const std::uint8_t*>(frame.landing_buffer) + std::size_t{load.at} * 16;
}

__global__ void __launch_bounds__(block_warp::lanes)
    header_check_kernel(const __grid_constant__ decode_frame frame) {
  const std::uint32_t number = blockIdx.x;
  if (threadIdx.x != 0 || program_of_image(frame, number) == nullptr) return;
  const block_load& load = frame.loads[number];
  jpeg_frame says;
  const bool good = read_jpeg_frame(file_of(frame, load), load.bytes, says) &&
                    says.height == load.height && says.width == load.width;
  if (!good) frame.bad[number] = 1;
}

__global__ void __launch_bounds__(block_warp::lanes)
    scan_check_kernel(const __grid_constant__ decode_frame frame) {
  __shared__ jpeg_scan_tables tables;
  __shared__ jpeg_frame says;
  const std::uint32_t number = blockIdx.x;
  const decode_program* const program = program_of_image(frame, number);
  if (program == nullptr || program->image.allow_damaged) return;
  const block_load& load = frame.loads[number];
  block_warp warp;
  const bool good = warp.once([&] {
    return read_jpeg_frame(file_of(frame, load), load.bytes, says);
  }) && jpeg_scan_segments{warp, jpeg_scan{file_of(frame, load), load.bytes, says, tables}}
                        .is_whole();
  if (!good && threadIdx.x == 0) frame.bad[number] = 1;
}

}  // namespace

void issue_header_checks(const decode_frame& frame, cudaStream_t stream) {
  launch(header_check_kernel, frame.count, block_warp::lanes, stream, decode_frame{frame});
}

void issue_scan_checks(const decode_frame& frame, cudaStream_t stream) {
  launch(scan_check_kernel, frame.count, block_warp::lanes, stream, decode_frame{frame});
}

}  // namespace feedline::detail
