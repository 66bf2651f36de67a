#include <feedline/interop/cuda_mdspan.hpp>

#include "cuda/load_kernels.hpp"
#include "gpu/checksums.hpp"

namespace feedline::test {
namespace {

template <class T>
using matrix = cuda::std::mdspan<T, cuda::std::dextents<int, 2>>;
using numbers = cuda::std::mdspan<unsigned long long, cuda::std::dextents<int, 1>>;

/// One block a sample.
__global__ void sum_rows(matrix<const std::uint8_t> rows, numbers sums) {
  unsigned long long sum = 0;
  const int sample = static_cast<int>(blockIdx.x);
  for (int i = static_cast<int>(threadIdx.x); i < rows.extent(1); i += static_cast<int>(blockDim.x))
    sum += (i + 1ULL) * rows(sample, i);
  atomicAdd(&sums(sample), sum);
}

__global__ void zero(numbers sums) {
  for (int i = static_cast<int>(threadIdx.x); i < sums.extent(0); i += static_cast<int>(blockDim.x))
    sums(i) = 0;
}

__global__ void invert(matrix<std::uint8_t> rows) {
  const int sample = static_cast<int>(blockIdx.x);
  for (int i = static_cast<int>(threadIdx.x); i < rows.extent(1); i += static_cast<int>(blockDim.x))
    rows(sample, i) = static_cast<std::uint8_t>(~rows(sample, i));
}

}  // namespace

void load_checksum_kernels() {
  detail::load_kernels(zero, sum_rows, invert);
}

void issue_checksums(const tensor_view& rows, std::uint64_t* out, cudaStream_t stream) {
  const auto view = to_cuda_mdspan<const std::uint8_t, 2, int>(rows);
  const numbers sums{reinterpret_cast<unsigned long long*>(out), view.extent(0)};
  zero<<<1, 128, 0, stream>>>(sums);
  sum_rows<<<static_cast<unsigned>(view.extent(0)), 128, 0, stream>>>(view, sums);
  FEEDLINE_CUDA_CHECK(cudaGetLastError());
}

void issue_inversion(const tensor_view& rows, cudaStream_t stream) {
  const auto view = to_cuda_mdspan<std::uint8_t, 2, int>(rows);
  invert<<<static_cast<unsigned>(view.extent(0)), 128, 0, stream>>>(view);
  FEEDLINE_CUDA_CHECK(cudaGetLastError());
}

}  // namespace feedline::test
