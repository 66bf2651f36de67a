#pragma once

#include "cuda/check.hpp"

#include <cuda_runtime_api.h>

namespace feedline::bench {

/// A stream on the current GPU that waits for no other implicitly: the consumer's.
class gpu_stream {
 public:
  gpu_stream() { FEEDLINE_CUDA_CHECK(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking)); }
  gpu_stream(const gpu_stream&) = delete;
  gpu_stream& operator=(const gpu_stream&) = delete;
  ~gpu_stream() { FEEDLINE_CUDA_LOG(cudaStreamDestroy(stream_)); }

  [[nodiscard]] cudaStream_t get() const noexcept { return stream_; }
  void sync() const { FEEDLINE_CUDA_CHECK(cudaStreamSynchronize(stream_)); }

 private:
  cudaStream_t stream_ = nullptr;
};

}  // namespace feedline::bench
