#include "cuda/check.hpp"
#include "gpu/gate.hpp"

namespace feedline::test {
namespace {

__global__ void wait_for(const volatile int* flag) {
  while (*flag == 0) __nanosleep(1000);
}

}  // namespace

gpu_gate::gpu_gate() {
  void* memory = nullptr;
  FEEDLINE_CUDA_CHECK(cudaHostAlloc(&memory, sizeof(int), cudaHostAllocMapped));
  flag_ = static_cast<volatile int*>(memory);
  *flag_ = 0;
}

gpu_gate::~gpu_gate() {
  open();
  FEEDLINE_CUDA_LOG(cudaDeviceSynchronize());
  FEEDLINE_CUDA_LOG(cudaFreeHost(const_cast<int*>(flag_)));
}

void gpu_gate::hold(cudaStream_t stream) {
  void* on_device = nullptr;
  FEEDLINE_CUDA_CHECK(cudaHostGetDevicePointer(&on_device, const_cast<int*>(flag_), 0));
  wait_for<<<1, 1, 0, stream>>>(static_cast<const volatile int*>(on_device));
  FEEDLINE_CUDA_CHECK(cudaGetLastError());
}

void gpu_gate::open() {
  *flag_ = 1;
}

}  // namespace feedline::test
