#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

namespace feedline::detail {

/// Clears an error that one of our calls has just returned. Otherwise the next, unrelated call
/// would report it again. An error that the user's own calls left pending on this thread stays.
void clear_error(cudaError_t status) noexcept;

/// Throws if a call of CUDA's runtime or driver failed. The runtime's error is cleared first; the
/// driver stores none.
/// @param call The call's text, for the message, like `file` and `line`. The file has no folder,
///        which would be one of the machine that built the library.
/// @throws cuda_error
void cuda_check(cudaError_t status, const char* call, const char* file, int line);
void cuda_check(CUresult status, const char* call, const char* file, int line);

/// The same, but logs the failure: for destructors.
void cuda_log(cudaError_t status, const char* call, const char* file, int line) noexcept;
void cuda_log(CUresult status, const char* call, const char* file, int line) noexcept;

}  // namespace feedline::detail

/// Makes a CUDA call; throws feedline::cuda_error if it fails.
#define FEEDLINE_CUDA_CHECK(call) \
  ::feedline::detail::cuda_check((call), #call, __FILE_NAME__, __LINE__)
/// Makes a CUDA call; logs if it fails.
#define FEEDLINE_CUDA_LOG(call) ::feedline::detail::cuda_log((call), #call, __FILE_NAME__, __LINE__)
