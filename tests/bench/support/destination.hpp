#pragma once

#include <feedline/device/host_device.hpp>
#include <feedline/device/stream_ref.hpp>
#include <feedline/error.hpp>

#ifdef FEEDLINE_BENCH_CUDA
#include <feedline/cuda/device.hpp>

#include <cuda_runtime_api.h>

#include <stdexcept>
#endif

namespace feedline::bench {

/// The device that batches are delivered to, a stream of its own on it, and the wait until a batch
/// is there.
class destination {
 public:
  /// @param on_gpu GPU 0, else host memory. @throws usage_error if there is none.
  explicit destination(bool on_gpu) {
    if (!on_gpu) return;
#ifdef FEEDLINE_BENCH_CUDA
    device_ = make_cuda_device(0);
    if (cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking) != cudaSuccess)
      throw usage_error{"no stream on GPU 0"};
#else
    throw usage_error{"built without CUDA"};
#endif
  }
  destination(const destination&) = delete;
  destination& operator=(const destination&) = delete;
  ~destination() {
#ifdef FEEDLINE_BENCH_CUDA
    if (stream_ != nullptr) (void)cudaStreamDestroy(stream_);
#endif
  }

  [[nodiscard]] const device_ptr& device() const noexcept {
    return device_;
  }
  [[nodiscard]] stream_ref stream() const {
#ifdef FEEDLINE_BENCH_CUDA
    if (stream_ != nullptr) return stream_ref{stream_};
#endif
    return {};
  }
  void wait() const {
#ifdef FEEDLINE_BENCH_CUDA
    if (stream_ != nullptr && cudaStreamSynchronize(stream_) != cudaSuccess)
      throw std::runtime_error{"a copy to GPU 0 failed"};
#endif
  }

 private:
  device_ptr device_ = make_host_device();
#ifdef FEEDLINE_BENCH_CUDA
  cudaStream_t stream_ = nullptr;
#endif
};

}  // namespace feedline::bench
