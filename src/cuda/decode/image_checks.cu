#include "cuda/check.hpp"
#include "cuda/decode/kernels.hpp"
#include "image/jpeg/frame.hpp"
#include "image/jpeg/scan_segments.hpp"

namespace feedline::detail {
namespace {

constexpr std::uint32_t warp_threads = 32;
constexpr std::uint32_t all_threads = 0xFFFFFFFF;

/// What `jpeg_scan_segments` needs of a warp that is a thread block.
struct block_warp {
  static constexpr std::uint32_t lanes = warp_threads;

  template <class T>
  struct per_lane {
    T own;
    __device__ T& operator[](std::uint32_t) { return own; }
    __device__ const T& operator[](std::uint32_t) const { return own; }
  };

  template <class Function>
  __device__ void each(Function f) {
    f(threadIdx.x);
    __syncwarp();
  }
  template <class Function>
  __device__ bool once(Function f) {
    const bool said = threadIdx.x == 0 && f();
    __syncwarp();
    return __any_sync(all_threads, said);
  }
  __device__ bool any(const per_lane<bool>& values) { return __any_sync(all_threads, values.own); }
  __device__ std::uint32_t least(const per_lane<std::uint32_t>& values) {
    std::uint32_t least = values.own;
    for (std::uint32_t apart = lanes / 2; apart > 0; apart /= 2)
      least = min(least, __shfl_xor_sync(all_threads, least, apart));
    return least;
  }
  __device__ std::uint32_t sum(const per_lane<std::uint32_t>& values) {
    std::uint32_t sum = values.own;
    for (std::uint32_t apart = lanes / 2; apart > 0; apart /= 2)
      sum += __shfl_xor_sync(all_threads, sum, apart);
    return sum;
  }
  __device__ per_lane<std::uint32_t> sum_before(const per_lane<std::uint32_t>& values) {
    std::uint32_t sum = values.own;
    for (std::uint32_t apart = 1; apart < lanes; apart *= 2) {
      const std::uint32_t before = __shfl_up_sync(all_threads, sum, apart);
      if (threadIdx.x >= apart) sum += before;
    }
    return {sum - values.own};
  }
  __device__ per_lane<std::uint64_t> before(const per_lane<std::uint64_t>& values) {
    return {__shfl_up_sync(all_threads, static_cast<unsigned long long>(values.own), 1)};
  }
  __device__ std::uint64_t last(const per_lane<std::uint64_t>& values) {
    return __shfl_sync(all_threads, static_cast<unsigned long long>(values.own), lanes - 1);
  }
};

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

__global__ void __launch_bounds__(warp_threads)
    header_check_kernel(const __grid_constant__ decode_frame frame) {
  const std::uint32_t number = blockIdx.x;
  if (threadIdx.x != 0 || program_of_image(frame, number) == nullptr) return;
  const block_load& load = frame.loads[number];
  jpeg_frame says;
  const bool good = read_jpeg_frame(file_of(frame, load), load.bytes, says) &&
                    says.height == load.height && says.width == load.width;
  if (!good) frame.bad[number] = 1;
}

__global__ void __launch_bounds__(warp_threads)
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
  }) && jpeg_scan_segments{warp, file_of(frame, load), load.bytes, says, tables}.is_whole();
  if (!good && threadIdx.x == 0) frame.bad[number] = 1;
}

void launch(void (*kernel)(decode_frame), const decode_frame& frame, cudaStream_t stream) {
  decode_frame parameter = frame;
  void* parameters[] = {&parameter};
  FEEDLINE_CUDA_CHECK(
      cudaLaunchKernel(kernel, dim3{frame.count}, dim3{warp_threads}, parameters, 0, stream));
}

}  // namespace

void issue_header_checks(const decode_frame& frame, cudaStream_t stream) {
  launch(header_check_kernel, frame, stream);
}

void issue_scan_checks(const decode_frame& frame, cudaStream_t stream) {
  launch(scan_check_kernel, frame, stream);
}

}  // namespace feedline::detail
