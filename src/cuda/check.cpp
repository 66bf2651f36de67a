#include "cuda/check.hpp"

#include <feedline/error.hpp>

#include "detail/log.hpp"

#include <exception>
#include <string>
#include <string_view>

namespace feedline::detail {
namespace {

std::string describe(cudaError_t status, const char* call, std::string_view file, int line) {
  const auto name = file.substr(file.find_last_of('/') + 1);
  return std::string{call} + " failed at " + std::string{name} + ":" + std::to_string(line) + ": " +
         cudaGetErrorName(status) + ": " + cudaGetErrorString(status);
}

/// The runtime and the driver use the same error numbers.
cudaError_t of_runtime(CUresult status) noexcept {
  return static_cast<cudaError_t>(status);
}

void log_failure(cudaError_t status, const char* call, const char* file, int line) noexcept {
  try {
    log()->error("{}", describe(status, call, file, line));
  } catch (const std::exception&) {
    // There is no other way to report it.
  }
}

}  // namespace

void clear_error(cudaError_t status) noexcept {
  // The last error is ours, unless the runtime does not count it as an error (cudaErrorNotReady).
  if (cudaPeekAtLastError() == status) (void)cudaGetLastError();
}

void cuda_check(cudaError_t status, const char* call, const char* file, int line) {
  if (status == cudaSuccess) return;
  clear_error(status);
  throw cuda_error{static_cast<int>(status), describe(status, call, file, line)};
}

void cuda_log(cudaError_t status, const char* call, const char* file, int line) noexcept {
  if (status == cudaSuccess || status == cudaErrorCudartUnloading) return;
  clear_error(status);
  log_failure(status, call, file, line);
}

void cuda_check(CUresult status, const char* call, const char* file, int line) {
  if (status == CUDA_SUCCESS) return;
  throw cuda_error{static_cast<int>(status), describe(of_runtime(status), call, file, line)};
}

void cuda_log(CUresult status, const char* call, const char* file, int line) noexcept {
  if (status == CUDA_SUCCESS || status == CUDA_ERROR_DEINITIALIZED) return;
  log_failure(of_runtime(status), call, file, line);
}

}  // namespace feedline::detail
