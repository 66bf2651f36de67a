#include "cuda/pinned_memory.hpp"

#include <feedline/error.hpp>

#include "cuda/check.hpp"
#include "cuda/page_uses.hpp"
#include "detail/arithmetic.hpp"
#include "detail/threads.hpp"
#include "device/shared_memory.hpp"

#include <cuda_runtime_api.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>
#include <string>
#include <vector>

namespace feedline::detail {
namespace {

constexpr std::size_t largest_registered_bytes = std::size_t{1} << 30;
/// Less than this is not worth a thread.
constexpr std::size_t bytes_a_thread = std::size_t{4} << 20;
constexpr std::size_t max_threads = 8;

/// Zeroes memory that was never touched, which makes the system allocate its pages. That takes
/// most of the time, and several threads share it.
void zero(std::byte* memory, std::size_t bytes) noexcept {
  const std::size_t count = std::clamp<std::size_t>(bytes / bytes_a_thread, 1, max_threads);
  const std::size_t share = round_up(divide_up(bytes, count), page_bytes());
  try {
    parallel_for(divide_up(bytes, share), [&](std::size_t each) {
      const std::size_t begin = each * share;
      std::memset(memory + begin, 0, std::min(share, bytes - begin));
    });
  } catch (const std::bad_alloc&) {
    std::memset(memory, 0, bytes);
  }
}

/// Pins memory for asynchronous copies. @return False if there is not enough memory that can be
/// pinned. @throws cuda_error for any other refusal.
bool pin_whole(void* memory, std::size_t bytes, void (*free)(void*)) {
  const cudaError_t status = cudaHostRegister(memory, bytes, cudaHostRegisterDefault);
  if (status == cudaSuccess) return true;
  free(memory);
  if (status != cudaErrorMemoryAllocation) FEEDLINE_CUDA_CHECK(status);
  clear_error(status);
  return false;
}

void* allocate_registered(std::size_t bytes) {
  const std::size_t whole = round_up(bytes, page_bytes());
  void* memory = std::aligned_alloc(page_bytes(), whole);
  if (memory == nullptr) return nullptr;
  // Huge pages would be allocated even faster, but readers filled slots on them some 3 % slower.
  (void)madvise(memory, whole, MADV_NOHUGEPAGE);
  zero(static_cast<std::byte*>(memory), whole);
  return pin_whole(memory, whole, std::free) ? memory : nullptr;
}

void* allocate_shared_registered(std::size_t bytes) {
  void* memory = allocate_shared(bytes);
  if (memory == nullptr) return nullptr;
  const auto free = [](void* refused) { (void)free_shared(refused); };
  return pin_whole(memory, round_up(bytes, page_bytes()), free) ? memory : nullptr;
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

using range = page_uses::range;
using piece = page_uses::piece;

/// Thrown and caught in this file.
struct no_memory {};

range range_of(std::span<const std::byte> memory) noexcept {
  const auto begin = reinterpret_cast<std::uintptr_t>(memory.data());
  return {begin, begin + memory.size()};
}

bool current_device_has(cudaDeviceAttr attribute) {
  int ordinal = 0;
  int value = 0;
  FEEDLINE_CUDA_CHECK(cudaGetDevice(&ordinal));
  FEEDLINE_CUDA_CHECK(cudaDeviceGetAttribute(&value, attribute, ordinal));
  return value != 0;
}

void* pointer_to(std::uintptr_t address) {
  return reinterpret_cast<void*>(address);  // NOLINT(performance-no-int-to-ptr)
}

bool is_pinned(std::uintptr_t page) {
  cudaPointerAttributes attributes{};
  FEEDLINE_CUDA_CHECK(cudaPointerGetAttributes(&attributes, pointer_to(page)));
  return attributes.type == cudaMemoryTypeHost;
}

bool holds_pinned(range pages) {
  for (std::uintptr_t at = pages.begin; at < pages.end; at += page_bytes()) {
    if (is_pinned(at)) return true;
  }
  return false;
}

/// Pins pages. Returns false if some were already pinned.
bool try_register(range pages) {
  // Read-only access is enough, and is the only access that CUDA allows to a file mapped read-only.
  unsigned flags = cudaHostRegisterPortable | cudaHostRegisterMapped;
  if (current_device_has(cudaDevAttrHostRegisterReadOnlySupported))
    flags |= cudaHostRegisterReadOnly;
  const cudaError_t status =
      cudaHostRegister(pointer_to(pages.begin), pages.end - pages.begin, flags);
  if (status == cudaSuccess) return true;
  clear_error(status);
  if (status == cudaErrorMemoryAllocation) throw no_memory{};
  // Memory of cudaHostAlloc cannot be registered, and CUDA reports only an invalid value.
  const bool already = status == cudaErrorHostMemoryAlreadyRegistered ||
                       (status == cudaErrorInvalidValue && holds_pinned(pages));
  if (!already) FEEDLINE_CUDA_CHECK(status);
  return false;
}

void unregister(range pages) {
  FEEDLINE_CUDA_LOG(cudaHostUnregister(pointer_to(pages.begin)));
}

/// Pins the pages that are not pinned, in pieces that are as long as possible.
void register_around(range pages, std::vector<piece>& pieces) {
  for (std::uintptr_t at = pages.begin; at < pages.end;) {
    const bool pinned = is_pinned(at);
    std::uintptr_t end = at + page_bytes();
    while (end < pages.end && is_pinned(end) == pinned) end += page_bytes();
    if (pinned || try_register({at, end})) {
      pieces.push_back({{at, end}, !pinned});
    } else if (end - at == page_bytes()) {
      // Part of the page was pinned before: CUDA knows the bytes, and the GPU can access the page.
      pieces.push_back({{at, end}, false});
    } else {
      const std::uintptr_t middle = at + (end - at) / page_bytes() / 2 * page_bytes();
      register_around({at, middle}, pieces);
      register_around({middle, end}, pieces);
    }
    at = end;
  }
}

std::vector<piece> pin(range pages) {
  if (try_register(pages)) return {{pages, true}};
  std::vector<piece> pieces;
  try {
    register_around(pages, pieces);
  } catch (...) {
    for (const piece& each : pieces) {
      if (each.ours) unregister(each.pages);
    }
    throw;
  }
  return pieces;
}

/// A process's pages are pinned once, for all GPUs and loaders, so uses are counted in one object.
/// It is never destroyed, because a loader may be destroyed after all static objects.
struct process_pages {
  std::mutex mutex;
  page_uses uses{pin, unregister};
};

process_pages& all_pages() {
  static auto* const pages = new process_pages;
  return *pages;
}

}  // namespace

void* allocate_pinned(std::size_t bytes) {
  if (shared_staging::is_wanted()) return allocate_shared_registered(bytes);
  return bytes <= largest_registered_bytes ? allocate_registered(bytes) : allocate_by_cuda(bytes);
}

void free_pinned(void* memory, std::size_t bytes) noexcept {
  if (memory == nullptr) return;
  if (find_shared(memory, bytes)) {
    FEEDLINE_CUDA_LOG(cudaHostUnregister(memory));
    (void)free_shared(memory);
    return;
  }
  if (bytes > largest_registered_bytes) {
    FEEDLINE_CUDA_LOG(cudaFreeHost(memory));
    return;
  }
  FEEDLINE_CUDA_LOG(cudaHostUnregister(memory));
  std::free(memory);  // NOLINT(cppcoreguidelines-no-malloc)
}

std::size_t page_bytes() noexcept {
  static const long bytes = ::sysconf(_SC_PAGESIZE);
  return static_cast<std::size_t>(bytes);
}

bool map_memory(std::span<const std::byte> memory) {
  const range pages = range_of(memory);
  if (pages.begin % page_bytes() != 0 || pages.end % page_bytes() != 0)
    throw usage_error{"memory that is mapped for a GPU must begin and end at pages of " +
                      std::to_string(page_bytes()) +
                      " bytes: others would be pinned in part, and copies that begin on them fail"};
  if (!current_device_has(cudaDevAttrCanUseHostPointerForRegisteredMem)) {
    throw device_error{
        "this GPU cannot read host memory at its own address: use another placement than gather"};
  }
  process_pages& all = all_pages();
  const std::lock_guard lock{all.mutex};
  try {
    all.uses.add(pages);
  } catch (const no_memory&) {
    return false;
  }
  return true;
}

void unmap_memory(std::span<const std::byte> memory) noexcept {
  process_pages& all = all_pages();
  const std::lock_guard lock{all.mutex};
  all.uses.remove(range_of(memory));
}

}  // namespace feedline::detail
