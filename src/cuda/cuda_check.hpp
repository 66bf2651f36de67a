#pragma once

#include <cuda_runtime_api.h>

namespace feedline::detail {

/// Throws if a CUDA call failed, and clears the runtime's sticky error first.
/// @param call The call's text, and where it stands: for the message.
/// @throws cuda_error
void cuda_check(cudaError_t status, const char* call, const char* file, int line);

/// Logs if a CUDA call failed, and clears the sticky error: for destructors.
void cuda_log(cudaError_t status, const char* call, const char* file, int line) noexcept;

}  // namespace feedline::detail

/// Makes a CUDA call; throws feedline::cuda_error if it fails.
#define FEEDLINE_CUDA_CHECK(call) ::feedline::detail::cuda_check((call), #call, __FILE__, __LINE__)
/// Makes a CUDA call; logs if it fails.
#define FEEDLINE_CUDA_LOG(call) ::feedline::detail::cuda_log((call), #call, __FILE__, __LINE__)
