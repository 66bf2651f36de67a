#include "cuda/context.hpp"

#include <cuda_runtime_api.h>

namespace feedline::detail {
namespace {

/// The version of the driver's interface that is requested: it contains all calls that are used.
constexpr unsigned interface_version = 12000;

template <class Call>
void take(const char* name, Call& call) {
  void* entry = nullptr;
  auto found = cudaDriverEntryPointSymbolNotFound;
  FEEDLINE_CUDA_CHECK(
      cudaGetDriverEntryPointByVersion(name, &entry, interface_version, cudaEnableDefault, &found));
  if (found != cudaDriverEntryPointSuccess)
    cuda_check(cudaErrorSymbolNotFound, name, __FILE_NAME__, __LINE__);
  call = reinterpret_cast<Call>(entry);
}

}  // namespace

const cuda_driver& cuda_driver::get() {
  static const cuda_driver all = [] {
    cuda_driver driver{};
    take("cuDeviceGet", driver.device_get);
    take("cuDevicePrimaryCtxRetain", driver.retain_primary_context);
    take("cuDevicePrimaryCtxRelease", driver.release_primary_context);
    take("cuCtxGetCurrent", driver.get_current_context);
    take("cuCtxSetCurrent", driver.set_current_context);
    take("cuThreadExchangeStreamCaptureMode", driver.exchange_capture_mode);
    return driver;
  }();
  return all;
}

}  // namespace feedline::detail
