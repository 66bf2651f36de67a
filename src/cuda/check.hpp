#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

namespace feedline::detail {

/// Clears an error that a call of ours has just returned, or the next, unrelated call would report it
/// again. An error that the user's own calls left pending on this thread stays.
void clear_error(cudaError_t status) noexcept;

/// Throws if a CUDA call failed, and clears its error first.
/// @param call The call's text, and where it stands: for the message.
/// @throws cuda_error
void cuda_check(cudaError_t status, const char* call, const char* file, int line);

/// Logs if a CUDA call failed, and clears its error: for destructors.
void cuda_log(cudaError_t status, const char* call, const char* file, int line) noexcept;

/// Throws if a call of the driver failed. The driver keeps no error to be cleared.
/// @throws cuda_error
void driver_check(CUresult status, const char* call, const char* file, int line);

/// Logs if a call of the driver failed: for destructors.
void driver_log(CUresult status, const char* call, const char* file, int line) noexcept;

}  // namespace feedline::detail

/// Makes a CUDA call; throws feedline::cuda_error if it fails.
#define FEEDLINE_CUDA_CHECK(call) ::feedline::detail::cuda_check((call), #call, __FILE__, __LINE__)
/// Makes a CUDA call; logs if it fails.
#define FEEDLINE_CUDA_LOG(call) ::feedline::detail::cuda_log((call), #call, __FILE__, __LINE__)
/// The same for calls of the driver.
#define FEEDLINE_DRIVER_CHECK(call) \
  ::feedline::detail::driver_check((call), #call, __FILE__, __LINE__)
#define FEEDLINE_DRIVER_LOG(call) ::feedline::detail::driver_log((call), #call, __FILE__, __LINE__)
