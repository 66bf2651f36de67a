#pragma once

#include "cuda/check.hpp"

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace feedline::detail {

/// Number of blocks and threads of a kernel, and the memory that each block shares.
struct launch_shape {
  std::uint32_t blocks;
  std::uint32_t threads;
  std::size_t shared_bytes = 0;  ///< dynamic shared memory, `max_shared_bytes()` at most
};

/// Most dynamic shared memory that a block may have on the current GPU. @throws cuda_error.
[[nodiscard]] inline std::size_t max_shared_bytes() {
  int device = 0;
  int bytes = 0;
  FEEDLINE_CUDA_CHECK(cudaGetDevice(&device));
  FEEDLINE_CUDA_CHECK(
      cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
  return static_cast<std::size_t>(bytes);
}

/// Issues a kernel on the current GPU. Not by <<<>>>: assemble.cu says why. @throws cuda_error.
template <class... Parameters>
void launch(void (*kernel)(Parameters...), const launch_shape& shape, cudaStream_t stream,
            Parameters... parameters) {
  if (shape.shared_bytes > 0)
    FEEDLINE_CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                             static_cast<int>(shape.shared_bytes)));
  void* addresses[] = {&parameters...};
  FEEDLINE_CUDA_CHECK(cudaLaunchKernel(kernel, dim3{shape.blocks}, dim3{shape.threads}, addresses,
                                       shape.shared_bytes, stream));
}
/// The same, without dynamic shared memory.
template <class... Parameters>
void launch(void (*kernel)(Parameters...), std::uint32_t blocks, std::uint32_t threads,
            cudaStream_t stream, Parameters... parameters) {
  launch(kernel, launch_shape{blocks, threads}, stream, Parameters{parameters}...);
}

}  // namespace feedline::detail
