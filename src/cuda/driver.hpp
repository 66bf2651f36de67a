#pragma once

#include <cuda.h>

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

}  // namespace feedline::detail
