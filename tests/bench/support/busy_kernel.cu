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

__device__ std::uint64_t nanoseconds() {
  std::uint64_t now = 0;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
  return now;
}

__global__ void stamped(long long cycles, kernel_stamps* stamps) {
  stamps->begin = nanoseconds();
  const long long start = clock64();
  while (clock64() - start < cycles) {
  }
  stamps->end = nanoseconds();
}

}  // namespace

void launch_busy(cudaStream_t stream, std::uint64_t cycles) {
  busy<<<1, 1, 0, stream>>>(static_cast<long long>(cycles));
  FEEDLINE_CUDA_CHECK(cudaGetLastError());
}

void launch_stamped(cudaStream_t stream, std::uint64_t cycles, kernel_stamps* stamps) {
  stamped<<<1, 1, 0, stream>>>(static_cast<long long>(cycles), stamps);
  FEEDLINE_CUDA_CHECK(cudaGetLastError());
}

}  // namespace feedline::bench
