#include "cuda/pinned_memory.hpp"

#include "cuda/check.hpp"
#include "detail/arithmetic.hpp"
#include "detail/parallel_for.hpp"

#include <cuda_runtime_api.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>

namespace feedline::detail {
namespace {

constexpr std::size_t page_bytes = 4096;
constexpr std::size_t largest_registered_bytes = std::size_t{1} << 30;
/// Less than this is not worth a thread.
constexpr std::size_t bytes_a_thread = std::size_t{4} << 20;
constexpr std::size_t max_threads = 8;

/// Zeroes memory that was never touched, which makes the system find its pages: the time is the
/// system's, and several threads share it.
void zero(std::byte* memory, std::size_t bytes) noexcept {
  const std::size_t count = std::clamp<std::size_t>(bytes / bytes_a_thread, 1, max_threads);
  const std::size_t share = round_up(divide_up(bytes, count), page_bytes);
  try {
    parallel_for(divide_up(bytes, share), [&](std::size_t each) {
      const std::size_t begin = each * share;
      std::memset(memory + begin, 0, std::min(share, bytes - begin));
    });
  } catch (const std::bad_alloc&) {
    std::memset(memory, 0, bytes);
  }
}

void* allocate_registered(std::size_t bytes) {
  const std::size_t whole = round_up(bytes, page_bytes);
  void* memory = std::aligned_alloc(page_bytes, whole);
  if (memory == nullptr) return nullptr;
  // Huge pages would be found sooner still, but readers filled slots on them some 3 % slower.
  (void)madvise(memory, whole, MADV_NOHUGEPAGE);
  zero(static_cast<std::byte*>(memory), whole);
  const cudaError_t status = cudaHostRegister(memory, whole, cudaHostRegisterDefault);
  if (status == cudaSuccess) return memory;
  std::free(memory);
  if (status != cudaErrorMemoryAllocation) FEEDLINE_CUDA_CHECK(status);
  clear_error(status);
  return nullptr;
}

void* allocate_by_cuda(std::size_t bytes) {
  void* memory = nullptr;
  const cudaError_t status = cudaHostAlloc(&memory, bytes, cudaHostAllocDefault);
  if (status == cudaErrorMemoryAllocation) {
    clear_error(status);
    return nullptr;
  }
  FEEDLINE_CUDA_CHECK(status);
  zero(static_cast<std::byte*>(memory), bytes);
  return memory;
}

}  // namespace

void* allocate_pinned(std::size_t bytes) {
  return bytes <= largest_registered_bytes ? allocate_registered(bytes) : allocate_by_cuda(bytes);
}

void free_pinned(void* memory, std::size_t bytes) noexcept {
  if (memory == nullptr) return;
  if (bytes > largest_registered_bytes) {
    FEEDLINE_CUDA_LOG(cudaFreeHost(memory));
    return;
  }
  FEEDLINE_CUDA_LOG(cudaHostUnregister(memory));
  std::free(memory);
}

}  // namespace feedline::detail
