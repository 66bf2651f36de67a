#pragma once

#include "cuda/check.hpp"

#include <cuda_runtime_api.h>

namespace feedline::detail {

/// Loads kernels on the current GPU; a kernel that is already loaded costs one call.
///
/// By default CUDA loads a kernel at its first launch, which may wait until the GPU is idle (CUDA
/// C++ Programming Guide, "Lazy Loading"). If a kernel of the user's waits for a batch, or for
/// another GPU that waits for one, that launch would never end.
///
/// A GPU for which they were not compiled is no error here: many uses need no kernel, and a launch
/// reports the error. @throws cuda_error.
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
