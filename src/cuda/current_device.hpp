#pragma once

#include "cuda/check.hpp"
#include "cuda/context.hpp"
#include "cuda/driver.hpp"

#include <cuda.h>

#include <new>

namespace feedline::detail {

/// Lets the calling thread call CUDA for one GPU for a scope, and puts back what it finds:
/// - the thread's current context, none included. The runtime would put back device 0 instead, and
///   make a context there that nobody asked for;
/// - the thread's capture mode. In the scope it is relaxed: while any thread captures a stream in
/// the
///   global mode, which is the default, CUDA refuses a call such as cudaEventQuery on every thread
///   of another mode, and the capture is lost.
class cuda_current_device {
 public:
  /// @throws cuda_error
  explicit cuda_current_device(cuda_context& device) {
    const CUresult entered = enter(device.get());
    if (entered != CUDA_SUCCESS) leave();
    driver_check(entered, "making the GPU current", __FILE__, __LINE__);
  }
  /// For functions that cannot throw: a failure is logged, and the calls that follow fail as well.
  /// @param device Was used before.
  cuda_current_device(cuda_context& device, std::nothrow_t) noexcept {
    driver_log(enter(device.get()), "making the GPU current", __FILE__, __LINE__);
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
    if (context_changed_) FEEDLINE_DRIVER_LOG(driver_.set_current_context(before_));
    if (mode_ != CU_STREAM_CAPTURE_MODE_RELAXED)
      FEEDLINE_DRIVER_LOG(driver_.exchange_capture_mode(&mode_));
  }

  const cuda_driver& driver_ = cuda_driver::get();
  CUcontext before_ = nullptr;
  bool context_changed_ = false;
  CUstreamCaptureMode mode_ = CU_STREAM_CAPTURE_MODE_RELAXED;  ///< to be put back
};

}  // namespace feedline::detail
