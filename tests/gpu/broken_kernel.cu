#include "gpu/broken_kernel.hpp"

#include <cstdint>

namespace feedline::test {
namespace {

__global__ void write_nowhere(int* nowhere) {
  *nowhere = 1;
}

}  // namespace

void break_context(cudaStream_t stream) {
  // An address that no allocation has, and that the compiler does not know.
  write_nowhere<<<1, 1, 0, stream>>>(reinterpret_cast<int*>(std::uintptr_t{16}));
}

}  // namespace feedline::test
