#include "cuda/cuda_check.hpp"

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

}  // namespace

void cuda_check(cudaError_t status, const char* call, const char* file, int line) {
  if (status == cudaSuccess) return;
  (void)cudaGetLastError();  // or the next, unrelated call would report it again
  throw cuda_error{static_cast<int>(status), describe(status, call, file, line)};
}

void cuda_log(cudaError_t status, const char* call, const char* file, int line) noexcept {
  if (status == cudaSuccess || status == cudaErrorCudartUnloading) return;
  (void)cudaGetLastError();
  try {
    log()->error("{}", describe(status, call, file, line));
  } catch (const std::exception&) {
    // Nowhere left to say it.
  }
}

}  // namespace feedline::detail
