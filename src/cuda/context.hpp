#pragma once

#include "cuda/check.hpp"

#include <cuda.h>

#include <atomic>
#include <mutex>
#include <new>

namespace feedline::detail {

/// The driver's calls that the runtime has no word for. They are taken at run time: a program that
/// links feedline starts on a machine without a driver.
struct cuda_driver {
  decltype(&cuDeviceGet) device_get;
  decltype(&cuDevicePrimaryCtxRetain) retain_primary_context;
  decltype(&cuDevicePrimaryCtxRelease) release_primary_context;
  decltype(&cuCtxGetCurrent) get_current_context;
  decltype(&cuCtxSetCurrent) set_current_context;
  decltype(&cuThreadExchangeStreamCaptureMode) exchange_capture_mode;

  /// Makes no context. @throws cuda_error if there is no driver, or one without these calls.
  [[nodiscard]] static const cuda_driver& get();
};

/// A GPU's primary context, which the runtime uses too, held from its first use on. Any thread.
class cuda_context {
 public:
  explicit cuda_context(int ordinal) noexcept : ordinal_{ordinal} {}
  cuda_context(const cuda_context&) = delete;
  cuda_context& operator=(const cuda_context&) = delete;
  ~cuda_context() {
    if (context_.load() != nullptr)
      FEEDLINE_CUDA_LOG(cuda_driver::get().release_primary_context(device_));
  }

  /// The context; the first call makes it. @throws cuda_error.
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

/// Lets the calling thread call CUDA for one GPU for a scope, and puts back what it finds:
/// - the thread's current context, none included. The runtime would put back device 0 instead, and
///   make a context there that nobody asked for;
/// - the thread's capture mode. In the scope it is relaxed: while any thread captures a stream in
///   the global mode, which is the default, CUDA refuses a call such as cudaEventQuery on every
///   thread of another mode, and the capture is lost.
class cuda_current_device {
 public:
  /// @throws cuda_error
  explicit cuda_current_device(cuda_context& device) {
    const CUresult entered = enter(device.get());
    if (entered != CUDA_SUCCESS) leave();
    cuda_check(entered, "making the GPU current", __FILE_NAME__, __LINE__);
  }
  /// For functions that cannot throw: a failure is logged, and the calls that follow fail as well.
  /// @param device Was used before.
  cuda_current_device(cuda_context& device, std::nothrow_t) noexcept {
    cuda_log(enter(device.get()), "making the GPU current", __FILE_NAME__, __LINE__);
  }
  cuda_current_device(const cuda_current_device&) = delete;
  cuda_current_device& operator=(const cuda_current_device&) = delete;
  ~cuda_current_device() { leave(); }

  /// Leaves the calling thread as it is in such a scope: for threads of the loader's own.
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
  CUstreamCaptureMode mode_ = CU_STREAM_CAPTURE_MODE_RELAXED;  ///< to be put back
};

}  // namespace feedline::detail
