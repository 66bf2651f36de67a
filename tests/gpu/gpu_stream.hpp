#pragma once

#include <feedline/cuda/device.hpp>
#include <feedline/device/stream_ref.hpp>

#include "cuda/check.hpp"
#include "support/checks/catch.hpp"

#include <cuda_runtime_api.h>

/// Ends the test case as skipped where there is no GPU.
#define FEEDLINE_NEEDS_GPU() \
  if (feedline::cuda_device_count() == 0) FEEDLINE_SKIP("no GPU")

namespace feedline::test {

/// A consumer's stream on the current device.
class gpu_stream {
 public:
  gpu_stream() { FEEDLINE_CUDA_CHECK(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking)); }
  gpu_stream(const gpu_stream&) = delete;
  gpu_stream& operator=(const gpu_stream&) = delete;
  ~gpu_stream() { FEEDLINE_CUDA_LOG(cudaStreamDestroy(stream_)); }

  [[nodiscard]] cudaStream_t get() const noexcept { return stream_; }
  [[nodiscard]] stream_ref ref() const noexcept { return stream_ref{stream_}; }

 private:
  cudaStream_t stream_ = nullptr;
};

}  // namespace feedline::test
