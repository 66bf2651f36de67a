#pragma once

#include "cuda/check.hpp"

#include <cuda_runtime_api.h>

#include <cstdint>

namespace feedline::detail {

/// Issues a kernel. Not by <<<>>>: see assemble.cu. @throws cuda_error.
template <class... Parameters>
void launch(void (*kernel)(Parameters...), std::uint32_t blocks, std::uint32_t threads,
            cudaStream_t stream, Parameters... parameters) {
  void* addresses[] = {&parameters...};
  FEEDLINE_CUDA_CHECK(cudaLaunchKernel(kernel, dim3{blocks}, dim3{threads}, addresses, 0, stream));
}

}  // namespace feedline::detail
