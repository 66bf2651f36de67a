#include "cuda/pinned_memory.hpp"

#include "cuda/check.hpp"
#include "device/shared_memory.hpp"
#include "gpu/gpu_stream.hpp"
#include "support/checks/catch.hpp"

#include <cuda_runtime_api.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

using namespace feedline;
using namespace feedline::detail;

TEST_CASE("pinned memory: any size is zeroed, aligned, and copied from asynchronously",
          "[cuda][gpu]") {
  FEEDLINE_NEEDS_GPU();
  FEEDLINE_CUDA_CHECK(cudaSetDevice(0));
  // One page, a part of a share, shares that differ, and more than is registered.
  const std::size_t bytes = GENERATE(std::size_t{1}, std::size_t{3} << 20,
                                     (std::size_t{41} << 20) + 5, (std::size_t{1} << 30) + 4097);
  CAPTURE(bytes);
  auto* const memory = static_cast<std::byte*>(allocate_pinned(bytes));
  REQUIRE(memory != nullptr);
  CHECK(reinterpret_cast<std::uintptr_t>(memory) % 256 == 0);
  CHECK(std::all_of(memory, memory + bytes, [](std::byte each) { return each == std::byte{0}; }));

  cudaPointerAttributes attributes{};
  FEEDLINE_CUDA_CHECK(cudaPointerGetAttributes(&attributes, memory + bytes - 1));
  CHECK(attributes.type == cudaMemoryTypeHost);
  free_pinned(memory, bytes);
}

TEST_CASE("pinned memory: more than any machine has is null, and leaves no CUDA error",
          "[cuda][gpu]") {
  FEEDLINE_NEEDS_GPU();
  CHECK(allocate_pinned(std::size_t{1} << 50) == nullptr);
  CHECK(cudaGetLastError() == cudaSuccess);
  free_pinned(nullptr, 1);
}

TEST_CASE("pinned memory: it is shared with other processes while a dataset wants that",
          "[cuda][gpu]") {
  FEEDLINE_NEEDS_GPU();
  FEEDLINE_CUDA_CHECK(cudaSetDevice(0));
  const shared_staging wanted;
  const std::size_t bytes = GENERATE(std::size_t{1}, (std::size_t{41} << 20) + 5);
  CAPTURE(bytes);
  auto* const memory = static_cast<std::byte*>(allocate_pinned(bytes));
  REQUIRE(memory != nullptr);
  const auto place = find_shared(memory, bytes);
  REQUIRE(place);
  cudaPointerAttributes attributes{};
  FEEDLINE_CUDA_CHECK(cudaPointerGetAttributes(&attributes, memory + bytes - 1));
  CHECK(attributes.type == cudaMemoryTypeHost);

  // The GPU gets bytes that another mapping has written.
  void* const other = ::mmap(nullptr, place->region_bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
                             place->descriptor, 0);
  REQUIRE(other != MAP_FAILED);
  std::memset(other, 7, bytes);
  std::byte* on_gpu = nullptr;
  FEEDLINE_CUDA_CHECK(cudaMalloc(reinterpret_cast<void**>(&on_gpu), bytes));
  FEEDLINE_CUDA_CHECK(cudaMemcpyAsync(on_gpu, memory, bytes, cudaMemcpyDefault, nullptr));
  std::vector<std::byte> got(bytes);
  FEEDLINE_CUDA_CHECK(cudaMemcpy(got.data(), on_gpu, bytes, cudaMemcpyDefault));
  CHECK(std::all_of(got.begin(), got.end(), [](std::byte each) { return each == std::byte{7}; }));
  FEEDLINE_CUDA_CHECK(cudaFree(on_gpu));
  ::munmap(other, place->region_bytes);
  free_pinned(memory, bytes);
  CHECK_FALSE(find_shared(memory, bytes));
}
