#pragma once

#include "cuda/check.hpp"

#include <cuda.h>

#include <atomic>
#include <mutex>
#include <new>

namespace feedline::detail {

/// Calls of the driver that the runtime does not offer. They are loaded at run time, so that a
/// program that links feedline starts on a machine without a driver.
struct cuda_driver {
  decltype(&cuDeviceGet) device_get;
  decltype(&cuDevicePrimaryCtxRetain) retain_primary_context;
  decltype(&cuDevicePrimaryCtxRelease) release_primary_context;
  decltype(&cuCtxGetCurrent) get_current_context;
  decltype(&cuCtxSetCurrent) set_current_context;
  decltype(&cuThreadExchangeStreamCaptureMode) exchange_capture_mode;

  /// Creates no context. @throws cuda_error if there is no driver, or one without these calls.
  [[nodiscard]] static const cuda_driver& get();
};

/// A GPU's primary context, which the runtime uses too, held from its first use on. Any thread may
/// use it.
class cuda_context {
 public:
  explicit cuda_context(int ordinal) noexcept : ordinal_{ordinal} {}
  cuda_context(const cuda_context&) = delete;
  cuda_context& operator=(const cuda_context&) = delete;
  ~cuda_context() {
    if (context_.load() != nullptr)
      FEEDLINE_CUDA_LOG(cuda_driver::get().release_primary_context(device_));
  }

  /// The context; the first call creates it. @throws cuda_error.
  [[nodiscard]] CUcontext get() {
    if (CUcontext known = context_.load(std::memory_order_acquire)) return known;
    const std::scoped_lock lock{mutex_};
    if (context_.load() == nullptr) {
      const cuda_driver& driver = cuda_driver::get();
      CUcontext made = nullptr;
      FEEDLINE_CUDA_CHECK(driver.device_get(&device_, ordinal_));
      FEEDLINE_CUDA_CHECK(driver.retain_primary_context(&made, device_));
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

/// Allows the calling thread to call CUDA for one GPU for a scope. The destructor restores:
/// - the thread's current context, even if there was none. The runtime would set device 0 instead,
///   and create a context there that the user never asked for;
/// - the thread's capture mode. Inside the scope it is relaxed: while any thread captures a stream
///   in the global mode, which is the default, CUDA refuses a call such as cudaEventQuery on every
///   thread in another mode, and invalidates the capture.
class cuda_current_device {
 public:
  /// @throws cuda_error
  explicit cuda_current_device(cuda_context& device) {
    const CUresult entered = enter(device.get());
    if (entered != CUDA_SUCCESS) leave();
    cuda_check(entered, "making the GPU current", __FILE_NAME__, __LINE__);
  }
  /// For functions that cannot throw: a failure is logged, and the calls that follow it fail too.
  /// @param device Must have been used before.
  cuda_current_device(cuda_context& device, std::nothrow_t) noexcept {
    cuda_log(enter(device.get()), "making the GPU current", __FILE_NAME__, __LINE__);
  }
  cuda_current_device(const cuda_current_device&) = delete;
  cuda_current_device& operator=(const cuda_current_device&) = delete;
  ~cuda_current_device() { leave(); }

  /// Leaves the calling thread in the state of such a scope: for the loader's own threads.
  static void keep_for_this_thread(cuda_context& device) noexcept {
    cuda_current_device cached{device, std::nothrow};
    cached.context_changed_ = false;
    cached.mode_ = CU_STREAM_CAPTURE_MODE_RELAXED;
  }

 private:
  CUresult enter(CUcontext context) noexcept {
    CUresult status = driver_.exchange_capture_mode(&mode_);
    if (status == CUDA_SUCCESS) status = driver_.get_current_context(&before_);
    if (status != CUDA_SUCCESS || before_ == context) return status;
    status = driver_.set_current_context(context);
    context_changed_ = status == CUDA_SUCCESS;
    return status;
  }
  void leave() noexcept {
    if (context_changed_) FEEDLINE_CUDA_LOG(driver_.set_current_context(before_));
    if (mode_ != CU_STREAM_CAPTURE_MODE_RELAXED)
      FEEDLINE_CUDA_LOG(driver_.exchange_capture_mode(&mode_));
  }

  const cuda_driver& driver_ = cuda_driver::get();
  CUcontext before_ = nullptr;
  bool context_changed_ = false;
  CUstreamCaptureMode mode_ = CU_STREAM_CAPTURE_MODE_RELAXED;  ///< to be restored
};

}  // namespace feedline::detail
