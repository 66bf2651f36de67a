#include <feedline/backend/device.hpp>
#include <feedline/cuda/device.hpp>
#include <feedline/error.hpp>

#include "programs/doctor/gpu.hpp"

#include <cuda_runtime_api.h>

#include <exception>
#include <string>

namespace doctor {
namespace {

void require(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  (void)cudaGetLastError();  // the error is reported now, and by no later call
  throw feedline::cuda_error{status, std::string{what} + ": " + cudaGetErrorString(status)};
}

/// Keeps one multiprocessor busy for a time, by the GPU's own clock: a training step's stand-in,
/// which touches no memory.
__global__ void spin(unsigned long long nanoseconds) {
  unsigned long long begin = 0;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(begin));
  unsigned long long now = begin;
  while (now - begin < nanoseconds) asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
}

std::unique_ptr<gpu> open_gpu(int ordinal) {
  auto opened = std::make_unique<gpu>();
  opened->device = feedline::make_cuda_device(ordinal);
  require(cudaSetDevice(ordinal), "cudaSetDevice");
  opened->ordinal = ordinal;
  opened->name = opened->device->capabilities().name;
  require(cudaMemGetInfo(&opened->free_bytes, &opened->total_bytes), "cudaMemGetInfo");
  opened->stream = opened->device->make_stream();
  const auto stream = static_cast<cudaStream_t>(opened->stream.get());
  opened->compute = [stream](std::chrono::nanoseconds time) {
    spin<<<1, 1, 0, stream>>>(static_cast<unsigned long long>(time.count()));
    require(cudaGetLastError(), "launching a kernel");
  };
  opened->sync = [stream] { require(cudaStreamSynchronize(stream), "cudaStreamSynchronize"); };
  return opened;
}

}  // namespace

gpu_search find_gpu(int ordinal) {
  const int count = feedline::cuda_device_count();
  if (count == 0) return {nullptr, "there is no GPU, or no driver for it"};
  if (ordinal >= count)
    return {nullptr, "there is no GPU " + std::to_string(ordinal) + ": there are " +
                         std::to_string(count) + ", counted from 0"};
  try {
    return {open_gpu(ordinal), {}};
  } catch (const feedline::device_error& refusal) {
    return {nullptr, std::string{"the GPU cannot be used: "} + refusal.what()};
  }
}

}  // namespace doctor
