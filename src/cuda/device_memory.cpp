#include "cuda/device_memory.hpp"

#include "cuda/check.hpp"

#include <cuda_runtime_api.h>

namespace feedline::detail {
namespace {

/// Zeroes device memory on its own stream, so that no work of the pipeline waits for the default
/// stream or delays it.
void zero_on_gpu(void* memory, std::size_t bytes) {
  cudaStream_t stream = nullptr;
  FEEDLINE_CUDA_CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  const cudaError_t set = cudaMemsetAsync(memory, 0, bytes, stream);
  const cudaError_t done = cudaStreamSynchronize(stream);
  FEEDLINE_CUDA_LOG(cudaStreamDestroy(stream));
  FEEDLINE_CUDA_CHECK(set);
  FEEDLINE_CUDA_CHECK(done);
}

}  // namespace

void* allocate_on_gpu(std::size_t bytes) {
  void* memory = nullptr;
  const cudaError_t status = cudaMalloc(&memory, bytes);
  if (status == cudaErrorMemoryAllocation) {
    clear_error(status);
    return nullptr;
  }
  FEEDLINE_CUDA_CHECK(status);
  try {
    zero_on_gpu(memory, bytes);
  } catch (...) {
    FEEDLINE_CUDA_LOG(cudaFree(memory));
    throw;
  }
  return memory;
}

}  // namespace feedline::detail
