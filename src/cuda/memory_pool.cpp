#include "cuda/memory_pool.hpp"

#include "cuda/check.hpp"

#include <cstdint>

namespace feedline::detail {

bool memory_pool::is_supported(int ordinal) {
  int supported = 0;
  FEEDLINE_CUDA_CHECK(cudaDeviceGetAttribute(&supported, cudaDevAttrMemoryPoolsSupported, ordinal));
  return supported != 0;
}

bool memory_pool::is_made() {
  const std::scoped_lock lock{mutex_};
  return stream_ != nullptr;
}

void memory_pool::make() {
  const std::scoped_lock lock{mutex_};
  if (stream_ == nullptr)
    FEEDLINE_CUDA_CHECK(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
  if (pool_ != nullptr) return;
  cudaMemPoolProps wanted{};
  wanted.allocType = cudaMemAllocationTypePinned;
  wanted.location.type = cudaMemLocationTypeDevice;
  wanted.location.id = ordinal_;
  FEEDLINE_CUDA_CHECK(cudaMemPoolCreate(&pool_, &wanted));
}

void* memory_pool::allocate(std::size_t bytes) {
  make();
  void* memory = nullptr;
  const cudaError_t status = cudaMallocFromPoolAsync(&memory, bytes, pool_, stream_);
  if (status == cudaErrorMemoryAllocation) {
    clear_error(status);
    return nullptr;
  }
  FEEDLINE_CUDA_CHECK(status);
  const cudaError_t set = cudaMemsetAsync(memory, 0, bytes, stream_);
  const cudaError_t done = cudaStreamSynchronize(stream_);
  if (set != cudaSuccess || done != cudaSuccess) free(memory);
  FEEDLINE_CUDA_CHECK(set);
  FEEDLINE_CUDA_CHECK(done);
  return memory;
}

void memory_pool::free(void* memory) noexcept {
  if (memory != nullptr) FEEDLINE_CUDA_LOG(cudaFreeAsync(memory, stream_));
}

std::size_t memory_pool::idle_bytes() {
  const std::scoped_lock lock{mutex_};
  if (pool_ == nullptr) return 0;
  std::uint64_t reserved = 0;
  std::uint64_t used = 0;
  FEEDLINE_CUDA_CHECK(cudaMemPoolGetAttribute(pool_, cudaMemPoolAttrReservedMemCurrent, &reserved));
  FEEDLINE_CUDA_CHECK(cudaMemPoolGetAttribute(pool_, cudaMemPoolAttrUsedMemCurrent, &used));
  return reserved > used ? reserved - used : 0;
}

void memory_pool::destroy() noexcept {
  if (pool_ != nullptr) FEEDLINE_CUDA_LOG(cudaMemPoolDestroy(pool_));
  if (stream_ != nullptr) FEEDLINE_CUDA_LOG(cudaStreamDestroy(stream_));
}

}  // namespace feedline::detail
