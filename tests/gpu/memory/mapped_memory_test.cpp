#include <feedline/backend/device.hpp>
#include <feedline/cuda/device.hpp>
#include <feedline/error.hpp>

#include "cuda/check.hpp"
#include "cuda/pinned_memory.hpp"
#include "device/owned.hpp"
#include "gpu/gpu_stream.hpp"
#include "support/checks/catch.hpp"
#include "support/checks/message_of.hpp"

#include <cuda_runtime_api.h>
#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <vector>

using namespace feedline;
using namespace feedline::test;

namespace {

const std::size_t page = detail::page_bytes();

struct free_memory {
  void operator()(std::byte* memory) const noexcept { std::free(memory); }
};

/// Pages of the test's own.
class pages {
 public:
  explicit pages(std::size_t count)
      : size_{count * page}, memory_{static_cast<std::byte*>(std::aligned_alloc(page, size_))} {
    if (memory_ == nullptr) throw std::bad_alloc{};
    for (std::size_t i = 0; i < size_; ++i) memory_.get()[i] = static_cast<std::byte>(i * 7);
  }
  [[nodiscard]] std::byte* data() const { return memory_.get(); }
  [[nodiscard]] std::span<const std::byte> span(std::size_t begin, std::size_t end) const {
    return {data() + begin, data() + end};
  }

 private:
  std::size_t size_;
  std::unique_ptr<std::byte, free_memory> memory_;
};

bool is_pinned(const std::byte* at) {
  cudaPointerAttributes attributes{};
  FEEDLINE_CUDA_CHECK(cudaPointerGetAttributes(&attributes, at));
  return attributes.type == cudaMemoryTypeHost;
}

/// Whether a kernel finds the bytes at the address that `map` gave: it copies them into a slot.
bool gpu_reads(const device_ptr& device, const std::byte* address,
               std::span<const std::byte> memory) {
  const gpu_stream stream;
  const detail::device_memory slot{device, memory_kind::device, memory.size()};
  const detail::device_memory copy_destination{device, memory_kind::device,
                                               256};  // zeros: cached row 0
  field_assembly field;
  field.cached = address;
  field.cached_on_host = true;
  field.row_bytes = memory.size();
  field.to_row_bytes = memory.size();
  assembly work;
  work.slot = slot.data();
  work.batch_size = 1;
  work.batch_bytes = memory.size();
  work.samples = 1;
  work.copy_destination = copy_destination.data();
  work.run_samples = 1;
  work.runs_per_batch = 1;
  work.fields = {&field, 1};
  device->assemble(work, stream.ref());
  std::vector<std::byte> seen(memory.size());
  FEEDLINE_CUDA_CHECK(cudaStreamSynchronize(stream.get()));
  FEEDLINE_CUDA_CHECK(cudaMemcpy(seen.data(), slot.data(), seen.size(), cudaMemcpyDeviceToHost));
  return std::memcmp(seen.data(), memory.data(), seen.size()) == 0;
}

}  // namespace

TEST_CASE("mapped memory: whole pages are read by the GPU, and unpinned afterwards",
          "[cuda][gpu]") {
  FEEDLINE_NEEDS_GPU();
  const auto device = make_cuda_device(0);
  CHECK(device->capabilities().map_granularity == page);
  const pages memory{5};
  const auto span = memory.span(page, 4 * page);
  const std::byte* const address = device->map(span);
  CHECK(gpu_reads(device, address, span));
  CHECK(is_pinned(memory.data() + page));
  CHECK(is_pinned(memory.data() + 4 * page - 1));
  CHECK(!is_pinned(memory.data()));
  CHECK(!is_pinned(memory.data() + 4 * page));
  device->unmap(span);
  CHECK(!is_pinned(memory.data() + page));
  CHECK(cudaGetLastError() == cudaSuccess);
}

TEST_CASE(
    "mapped memory: memory that begins or ends within a page is refused, and nothing is pinned",
    "[cuda][gpu]") {
  FEEDLINE_NEEDS_GPU();
  const auto device = make_cuda_device(0);
  const pages memory{5};
  for (const auto& span : {memory.span(16, 3 * page), memory.span(page, 3 * page - 1),
                           memory.span(page + 1, 3 * page + 1)}) {
    CHECK(message_of<usage_error>([&] { (void)device->map(span); }) ==
          "memory that is mapped for a GPU must begin and end at pages of " + std::to_string(page) +
              " bytes: others would be pinned in part, and copies that begin on them fail");
    for (std::size_t i = 0; i < 5; ++i) CHECK(!is_pinned(memory.data() + i * page));
  }
}

TEST_CASE("mapped memory: arrays that overlap are unmapped in any order", "[cuda][gpu]") {
  FEEDLINE_NEEDS_GPU();
  const bool first_goes_first = GENERATE(true, false);
  const auto one = make_cuda_device(0);
  const auto other = make_cuda_device(0);  // pages are the process's, not the device's
  const pages memory{6};
  const auto first = memory.span(page, 3 * page);
  const auto second = memory.span(2 * page, 5 * page);
  const std::byte* const at_first = one->map(first);
  const std::byte* const at_second = other->map(second);
  CHECK(gpu_reads(one, at_first, first));
  CHECK(gpu_reads(other, at_second, second));
  if (first_goes_first) {
    one->unmap(first);
    CHECK(gpu_reads(other, at_second, second));
    other->unmap(second);
  } else {
    other->unmap(second);
    CHECK(gpu_reads(one, at_first, first));
    one->unmap(first);
  }
  for (std::size_t i = 1; i < 5; ++i) CHECK(!is_pinned(memory.data() + i * page));
  CHECK(cudaGetLastError() == cudaSuccess);
}

TEST_CASE("mapped memory: the same memory is mapped as often as one likes", "[cuda][gpu]") {
  FEEDLINE_NEEDS_GPU();
  const auto device = make_cuda_device(0);
  const pages memory{3};
  const auto span = memory.span(0, 3 * page);
  for (int i = 0; i < 3; ++i) (void)device->map(span);
  for (int i = 0; i < 2; ++i) device->unmap(span);
  CHECK(gpu_reads(device, span.data(), span));
  device->unmap(span);
  CHECK(!is_pinned(span.data()));
  CHECK(device->map({}) == nullptr);
  device->unmap({});
}

TEST_CASE("mapped memory: memory that the user pinned is used, and stays pinned",
          "[cuda][gpu][whole_lines]") {
  FEEDLINE_NEEDS_GPU();
  FEEDLINE_CUDA_CHECK(cudaSetDevice(0));
  const auto device = make_cuda_device(0);
  const pages memory{9};
  SECTION("all of it, by cudaHostRegister") {
    FEEDLINE_CUDA_CHECK(cudaHostRegister(memory.data(), 9 * page, cudaHostRegisterDefault));
    const auto span = memory.span(page, 9 * page);
    CHECK(gpu_reads(device, device->map(span), span));
    device->unmap(span);
    CHECK(is_pinned(memory.data()));
    FEEDLINE_CUDA_CHECK(cudaHostUnregister(memory.data()));
  }
  SECTION("pages in its middle") {
    std::byte* const middle = memory.data() + 3 * page;
    FEEDLINE_CUDA_CHECK(cudaHostRegister(middle, 2 * page, cudaHostRegisterDefault));
    const auto span = memory.span(0, 9 * page);
    CHECK(gpu_reads(device, device->map(span), span));
    device->unmap(span);
    CHECK(is_pinned(middle));
    CHECK(!is_pinned(memory.data()));
    CHECK(!is_pinned(memory.data() + 8 * page));
    FEEDLINE_CUDA_CHECK(cudaHostUnregister(middle));
  }
  SECTION("bytes within pages") {
    std::byte* const middle = memory.data() + 3 * page + 128;
    FEEDLINE_CUDA_CHECK(cudaHostRegister(middle, 2 * page, cudaHostRegisterDefault));
    const auto span = memory.span(0, 9 * page);
    CHECK(gpu_reads(device, device->map(span), span));
    device->unmap(span);
    CHECK(is_pinned(middle));
    CHECK(!is_pinned(memory.data()));
    FEEDLINE_CUDA_CHECK(cudaHostUnregister(middle));
  }
  SECTION("by cudaHostAlloc") {
    void* pinned = nullptr;
    FEEDLINE_CUDA_CHECK(cudaHostAlloc(&pinned, 2 * page, cudaHostAllocDefault));
    std::memset(pinned, 42, 2 * page);
    const std::span<const std::byte> span{static_cast<const std::byte*>(pinned), 2 * page};
    CHECK(gpu_reads(device, device->map(span), span));
    device->unmap(span);
    CHECK(is_pinned(span.data()));
    FEEDLINE_CUDA_CHECK(cudaFreeHost(pinned));
  }
  CHECK(cudaGetLastError() == cudaSuccess);
}

TEST_CASE(
    "mapped memory: memory that cannot be pinned is an error, and leaves nothing pinned or counted",
    "[cuda][gpu]") {
  FEEDLINE_NEEDS_GPU();
  const auto device = make_cuda_device(0);
  // Pages after these do not exist.
  void* const memory =
      mmap(nullptr, 4 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  REQUIRE(memory != MAP_FAILED);
  REQUIRE(munmap(static_cast<std::byte*>(memory) + 2 * page, 2 * page) == 0);
  const auto* const begin = static_cast<const std::byte*>(memory);
  CHECK_THROWS_AS((void)device->map({begin, 4 * page}), device_error);
  CHECK(!is_pinned(begin));
  CHECK(cudaGetLastError() == cudaSuccess);
  const std::byte* const address = device->map({begin, 2 * page});
  CHECK(gpu_reads(device, address, {begin, 2 * page}));
  device->unmap({begin, 2 * page});
  CHECK(!is_pinned(begin));
  CHECK(munmap(memory, 2 * page) == 0);
}
