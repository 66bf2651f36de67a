#pragma once

#include "cuda/check.hpp"

#include <cuda_runtime_api.h>

namespace feedline::detail {

/// Loads kernels on the current GPU; those that are there already cost a call each.
///
/// By default CUDA loads a kernel with its first launch, which may wait until the GPU is idle (CUDA
/// C++ Programming Guide, "Lazy Loading"). A kernel of the user's that waits for a batch, or for
/// another GPU that waits for one, would never end.
///
/// A GPU that they were not compiled for is no error here: much needs no kernel, and their
/// launch says so. @throws cuda_error.
template <class... Kernels>
void load_kernels(Kernels... kernels) {
  cudaFuncAttributes attributes{};
  for (const void* const kernel : {reinterpret_cast<const void*>(kernels)...}) {
    const cudaError_t status = cudaFuncGetAttributes(&attributes, kernel);
    if (status == cudaErrorNoKernelImageForDevice || status == cudaErrorInvalidDeviceFunction) {
      clear_error(status);
    } else {
      FEEDLINE_CUDA_CHECK(status);
    }
  }
}

}  // namespace feedline::detail
