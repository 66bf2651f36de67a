/// Lets a loader deliver an epoch from one GPU, on a main thread that never chose a GPU, and says
/// by its exit status what is left: 0 is nothing, 3 a context current on this thread, 4 a context
/// on another GPU. Arguments: the GPU's number, and how many readers.

#include <feedline/cuda/device.hpp>
#include <feedline/loader/loader.hpp>
#include <feedline/sampler/sequential.hpp>

#include "cuda/check.hpp"
#include "cuda/context.hpp"
#include "support/datasets/identity_dataset.hpp"

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <thread>

namespace {

using namespace feedline;

bool is_active(int ordinal) {
  void* entry = nullptr;
  auto found = cudaDriverEntryPointSymbolNotFound;
  FEEDLINE_CUDA_CHECK(cudaGetDriverEntryPointByVersion("cuDevicePrimaryCtxGetState", &entry, 12000,
                                                       cudaEnableDefault, &found));
  const auto get_state = reinterpret_cast<decltype(&cuDevicePrimaryCtxGetState)>(entry);
  CUdevice device = 0;
  unsigned flags = 0;
  int active = 0;
  FEEDLINE_CUDA_CHECK(detail::cuda_driver::get().device_get(&device, ordinal));
  FEEDLINE_CUDA_CHECK(get_state(device, &flags, &active));
  return active != 0;
}

void deliver(int ordinal, int readers) {
  cudaStream_t consumer = nullptr;
  std::thread{[&] {
    FEEDLINE_CUDA_CHECK(cudaSetDevice(ordinal));
    FEEDLINE_CUDA_CHECK(cudaStreamCreateWithFlags(&consumer, cudaStreamNonBlocking));
  }}.join();
  loader loader{test::make_identity_dataset(1024, 4096),
                sequential{},
                make_cuda_device(ordinal),
                {.batch_size = 64,
                 .readers = readers,
                 .transforms = {{.field = "row"}},
                 .expert = {.batches_per_slot = 2}}};
  for ([[maybe_unused]] batch& batch : loader.epoch(0, stream_ref{consumer})) {
  }
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 3) return 2;
  try {
    const int ordinal = std::atoi(arguments[1]);
    deliver(ordinal, std::atoi(arguments[2]));
    CUcontext current = nullptr;
    FEEDLINE_CUDA_CHECK(detail::cuda_driver::get().get_current_context(&current));
    if (current != nullptr) return 3;
    for (int other = 0; other < cuda_device_count(); ++other) {
      if (other != ordinal && is_active(other)) return 4;
    }
    return 0;
  } catch (const std::exception& exception) {
    std::fprintf(stderr, "%s\n", exception.what());
    return 1;
  }
}
