#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <mutex>

namespace feedline::detail {

/// Memory of one GPU whose allocation and freeing wait for no work on the GPU, unlike cudaMalloc
/// and cudaFree: a pool of CUDA's own, on a stream of its own. Made by the first allocation.
/// Memory that was freed goes back to the GPU as soon as any thread waits for a stream or an event.
///
/// Threads: any, with the GPU current (`cuda_current_device`), also when it is destroyed.
class memory_pool {
 public:
  explicit memory_pool(int ordinal) noexcept : ordinal_{ordinal} {}
  memory_pool(const memory_pool&) = delete;
  memory_pool& operator=(const memory_pool&) = delete;

  /// Whether a GPU and its driver have pools. Creates no context. @throws cuda_error
  [[nodiscard]] static bool is_supported(int ordinal);
  /// Zeroed memory, aligned to 256 bytes; null if there is not enough. Blocks until it is zeroed.
  /// @throws cuda_error
  [[nodiscard]] void* allocate(std::size_t bytes);
  /// Frees memory that no work uses any more. Null is ignored.
  void free(void* memory) noexcept;
  /// Bytes that were freed, and have not gone back to the GPU yet. @throws cuda_error
  [[nodiscard]] std::size_t idle_bytes();
  [[nodiscard]] bool is_made();
  /// Destroys the pool. None of its memory is in use any more.
  void destroy() noexcept;

 private:
  void make();

  const int ordinal_;
  std::mutex mutex_;  ///< for what follows; a pool that was made stays
  cudaMemPool_t pool_ = nullptr;
  cudaStream_t stream_ = nullptr;
};

}  // namespace feedline::detail
