#include "bench/support/busy_kernel.hpp"
#include "cuda/check.hpp"

namespace feedline::bench {
namespace {

__global__ void busy(long long cycles) {
  if (cycles == 0) return;
  const long long start = clock64();
  while (clock64() - start < cycles) {
  }
}

}  // namespace

void launch_busy(cudaStream_t stream, std::uint64_t cycles) {
  busy<<<1, 1, 0, stream>>>(static_cast<long long>(cycles));
  FEEDLINE_CUDA_CHECK(cudaGetLastError());
}

}  // namespace feedline::bench
