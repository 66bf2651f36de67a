/// A gather pins only the array's own memory: the program's other memory on its pages is unchanged.

#include <feedline/cuda/device.hpp>
#include <feedline/dataset/memory_dataset.hpp>
#include <feedline/loader/loader.hpp>
#include <feedline/sampler/shuffle.hpp>

#include "cuda/check.hpp"
#include "cuda/pinned_memory.hpp"
#include "device/owned.hpp"
#include "gpu/gpu_recorder.hpp"
#include "gpu/gpu_stream.hpp"
#include "support/checks/catch.hpp"
#include "support/datasets/identity_dataset.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <numeric>
#include <optional>
#include <random>
#include <span>
#include <vector>

using namespace feedline;
using namespace feedline::test;

namespace {

struct free_memory {
  void operator()(std::byte* memory) const noexcept { std::free(memory); }
};
using heap_block = std::unique_ptr<std::byte, free_memory>;

heap_block allocate(std::size_t bytes) {
  heap_block made{static_cast<std::byte*>(std::malloc(bytes))};
  if (made == nullptr) throw std::bad_alloc{};
  return made;
}

heap_block allocate_pages(std::size_t bytes) {
  heap_block made{static_cast<std::byte*>(std::aligned_alloc(detail::page_bytes(), bytes))};
  if (made == nullptr) throw std::bad_alloc{};
  return made;
}

bool is_pinned(const std::byte* at) {
  cudaPointerAttributes attributes{};
  FEEDLINE_CUDA_CHECK(cudaPointerGetAttributes(&attributes, at));
  return attributes.type == cudaMemoryTypeHost;
}

/// Whether the program's own copies of a buffer, to the GPU and back, succeed and are right.
bool copies_both_ways(std::span<std::byte> buffer) {
  const gpu_stream stream;
  const detail::device_memory there{make_cuda_device(0), memory_kind::device, buffer.size()};
  for (std::size_t i = 0; i < buffer.size(); ++i) buffer[i] = static_cast<std::byte>(i * 11 + 3);
  const std::vector<std::byte> before{buffer.begin(), buffer.end()};
  if (cudaMemcpyAsync(there.data(), buffer.data(), buffer.size(), cudaMemcpyDefault,
                      stream.get()) != cudaSuccess ||
      cudaStreamSynchronize(stream.get()) != cudaSuccess) {
    (void)cudaGetLastError();
    return false;
  }
  std::ranges::fill(buffer, std::byte{0});
  if (cudaMemcpyAsync(buffer.data(), there.data(), buffer.size(), cudaMemcpyDefault,
                      stream.get()) != cudaSuccess ||
      cudaStreamSynchronize(stream.get()) != cudaSuccess) {
    (void)cudaGetLastError();
    return false;
  }
  return std::equal(before.begin(), before.end(), buffer.begin());
}

/// Identity rows within memory of the program's.
struct borrowed_rows {
  std::vector<std::uint64_t> ids;
  std::span<std::byte> rows;
  std::size_t row_bytes;

  borrowed_rows(std::byte* at, std::uint64_t samples, std::size_t bytes_of_row)
      : ids(samples), rows{at, samples * bytes_of_row}, row_bytes{bytes_of_row} {
    std::iota(ids.begin(), ids.end(), std::uint64_t{0});
    for (std::uint64_t i = 0; i < samples; ++i)
      write_identity_row(i, rows.subspan(i * row_bytes, row_bytes));
  }
  [[nodiscard]] dataset_ptr dataset() const {
    const std::span bytes{reinterpret_cast<const std::uint8_t*>(rows.data()), rows.size()};
    return make_memory_dataset(
        {borrow("id", std::span<const std::uint64_t>{ids}), borrow("row", bytes, {row_bytes})});
  }
};

loader gather(const dataset_ptr& of) {
  return {of,
          shuffle{.seed = 5},
          make_cuda_device(0),
          {.batch_size = 32, .epochs = 2, .placement = placement::gather}};
}

/// Whether an epoch delivers each sample once, to the byte.
bool delivers(loader& from, std::uint64_t epoch, std::uint64_t samples) {
  const gpu_stream stream;
  gpu_recorder record{stream.get()};
  for (batch& batch : from.epoch(epoch, stream.ref())) record(batch);
  std::uint64_t seen = 0;
  for (const seen_batch& each : record.seen()) {
    if (!each.intact) return false;
    seen += each.samples.size();
  }
  return seen == samples;
}

}  // namespace

TEST_CASE("gather: the program's own copies of memory on the array's first and last page succeed",
          "[loader][gpu]") {
  FEEDLINE_NEEDS_GPU();
  const std::size_t page = detail::page_bytes();
  const std::size_t row_bytes = GENERATE(1U, 784U, 5'000U, 70'000U);
  const std::size_t in_page = GENERATE(16U, 2'000U, 4'080U);
  const std::uint64_t samples = 400'000 / row_bytes + 3;
  CAPTURE(row_bytes, in_page);
  const std::size_t size = samples * row_bytes;
  const std::size_t pages = (in_page + size) / page + 6;
  const heap_block block = allocate_pages(pages * page);
  const borrowed_rows array{block.get() + page + in_page, samples, row_bytes};
  std::byte* const end = block.get() + page + in_page + size;
  const std::span before{block.get() + page, in_page};
  const std::span across{block.get() + 16, page + in_page - 16};  // ends where the array begins
  const std::span after{end, block.get() + pages * page};         // begins on the last page
  const auto all_copy = [&] {
    return copies_both_ways(before) && copies_both_ways(across) && copies_both_ways(after);
  };
  REQUIRE(all_copy());
  {
    loader gathered = gather(array.dataset());
    CHECK(is_pinned(block.get() + 3 * page));
    CHECK(!is_pinned(before.data()));
    CHECK(!is_pinned(after.data()));
    CHECK(all_copy());
    CHECK(delivers(gathered, 0, samples));
    CHECK(all_copy());
  }
  CHECK(all_copy());
  CHECK(!is_pinned(block.get() + 3 * page));
  CHECK(cudaGetLastError() == cudaSuccess);
}

TEST_CASE("gather: two loaders over one array, ended in any order, leave its neighbours alone",
          "[loader][gpu]") {
  FEEDLINE_NEEDS_GPU();
  const std::size_t page = detail::page_bytes();
  const bool first_ends_first = GENERATE(true, false);
  constexpr std::uint64_t samples = 600;
  const heap_block block = allocate_pages(130 * page);
  const borrowed_rows array{block.get() + 40, samples, 784};
  const std::span after{block.get() + 40 + samples * 784, block.get() + 130 * page};
  auto first = std::make_optional(gather(array.dataset()));
  auto second = std::make_optional(gather(array.dataset()));
  CHECK(delivers(*first, 0, samples));
  CHECK(delivers(*second, 0, samples));
  CHECK(copies_both_ways(after));
  (first_ends_first ? first : second).reset();
  CHECK(copies_both_ways(after));
  CHECK(delivers(first_ends_first ? *second : *first, 1, samples));
  first.reset();
  second.reset();
  CHECK(copies_both_ways(after));
  CHECK(!is_pinned(block.get() + 2 * page));
}

TEST_CASE(
    "gather: arrays of any size and address in the heap leave neighbours that outlive them alone",
    "[loader][gpu]") {
  FEEDLINE_NEEDS_GPU();
  std::mt19937_64 random{11};
  for (int round = 0; round < 60; ++round) {
    CAPTURE(round);
    const std::size_t row_bytes = 1 + random() % (round % 2 == 0 ? 200 : 9'000);
    const std::uint64_t samples = 40 + random() % (round % 3 == 0 ? 3'000 : 60);
    // Below malloc's threshold all lie in one heap, beside each other.
    const heap_block before = allocate(100 + random() % 20'000);
    heap_block memory = allocate(samples * row_bytes);
    const std::size_t after_bytes = 100 + random() % 20'000;
    const heap_block after = allocate(after_bytes);
    const borrowed_rows array{memory.get(), samples, row_bytes};
    {
      loader one = gather(array.dataset());
      REQUIRE(copies_both_ways({before.get(), 100}));
      REQUIRE(copies_both_ways({after.get(), after_bytes}));
      REQUIRE(delivers(one, 0, samples));
      REQUIRE(copies_both_ways({after.get(), after_bytes}));
    }
    memory.reset();
    REQUIRE(copies_both_ways({before.get(), 100}));
    REQUIRE(copies_both_ways({after.get(), after_bytes}));
  }
  CHECK(cudaGetLastError() == cudaSuccess);
}

TEST_CASE("gather: an array that the program pinned itself stays pinned, and is read in place",
          "[loader][gpu]") {
  FEEDLINE_NEEDS_GPU();
  constexpr std::uint64_t samples = 600;
  const heap_block block = allocate_pages(130 * detail::page_bytes());
  const borrowed_rows array{block.get() + 64, samples, 784};
  FEEDLINE_CUDA_CHECK(
      cudaHostRegister(array.rows.data(), array.rows.size(), cudaHostRegisterDefault));
  {
    loader one = gather(array.dataset());
    CHECK(delivers(one, 0, samples));
  }
  CHECK(is_pinned(array.rows.data()));
  CHECK(copies_both_ways(array.rows));
  FEEDLINE_CUDA_CHECK(cudaHostUnregister(array.rows.data()));
}
