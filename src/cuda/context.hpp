#pragma once

#include "cuda/check.hpp"
#include "cuda/driver.hpp"

#include <cuda.h>

#include <atomic>
#include <mutex>

namespace feedline::detail {

/// A GPU's primary context, which the runtime uses too, held from its first use on. Any thread.
class cuda_context {
 public:
  explicit cuda_context(int ordinal) noexcept : ordinal_{ordinal} {}
  cuda_context(const cuda_context&) = delete;
  cuda_context& operator=(const cuda_context&) = delete;
  ~cuda_context() {
    if (context_.load() != nullptr)
      FEEDLINE_DRIVER_LOG(cuda_driver::get().release_primary_context(device_));
  }

  /// The context; the first call makes it. @throws cuda_error.
  [[nodiscard]] CUcontext get() {
    if (CUcontext known = context_.load(std::memory_order_acquire)) return known;
    const std::scoped_lock lock{mutex_};
    if (context_.load() == nullptr) {
      const cuda_driver& driver = cuda_driver::get();
      CUcontext made = nullptr;
      FEEDLINE_DRIVER_CHECK(driver.device_get(&device_, ordinal_));
      FEEDLINE_DRIVER_CHECK(driver.retain_primary_context(&made, device_));
      context_.store(made, std::memory_order_release);
    }
    return context_.load();
  }

 private:
  const int ordinal_;
  std::mutex mutex_;
  CUdevice device_ = 0;  ///< written before `context_`
  std::atomic<CUcontext> context_{nullptr};
};

}  // namespace feedline::detail
