#include "bench/support/bare/gather_kernel.hpp"
#include "cuda/check.hpp"

#include <algorithm>

namespace feedline::bench {
namespace {

constexpr unsigned threads = 512;
constexpr unsigned loads = 4;  ///< loads of a thread in flight at once
constexpr unsigned words_a_tile = threads * loads;

/// A tile is a stretch of the output; a block takes every gridDim.x-th. Nothing is read twice, so
/// caches are passed by.
__global__ void __launch_bounds__(threads)
    gather(const uint4* __restrict__ rows, unsigned words_a_row,
           const std::uint32_t* __restrict__ samples, unsigned words, uint4* __restrict__ out) {
  for (unsigned tile = blockIdx.x * words_a_tile; tile < words; tile += gridDim.x * words_a_tile) {
    uint4 taken[loads];
#pragma unroll
    for (unsigned i = 0; i < loads; ++i) {
      const unsigned word = tile + i * threads + threadIdx.x;
      if (word < words) {
        const unsigned row = word / words_a_row;
        const unsigned column = word - row * words_a_row;
        taken[i] = __ldcs(rows + std::size_t{samples[row]} * words_a_row + column);
      }
    }
#pragma unroll
    for (unsigned i = 0; i < loads; ++i) {
      const unsigned word = tile + i * threads + threadIdx.x;
      if (word < words) __stcs(out + word, taken[i]);
    }
  }
}

}  // namespace

void gather_on_gpu(const void* rows, std::size_t row_bytes, const std::uint32_t* samples,
                   std::size_t count, void* out, unsigned blocks, cudaStream_t stream) {
  const auto words_a_row = static_cast<unsigned>(row_bytes / sizeof(uint4));
  const auto words = static_cast<unsigned>(count * words_a_row);
  const unsigned tiles = (words + words_a_tile - 1) / words_a_tile;
  const unsigned grid = blocks == 0 ? tiles : std::min(blocks, tiles);
  gather<<<grid, threads, 0, stream>>>(static_cast<const uint4*>(rows), words_a_row, samples, words,
                                       static_cast<uint4*>(out));
  FEEDLINE_CUDA_CHECK(cudaGetLastError());
}

}  // namespace feedline::bench
