#include "cuda_support.cuh"

#include <cstdio>
#include <stdexcept>
#include <string>
#include <utility>

namespace mnist {
namespace {

[[noreturn]] void fail(const std::string& words, const char* call, const char* file, int line) {
  throw std::runtime_error{std::string{call} + " failed: " + words + " (" + file + ":" +
                           std::to_string(line) + ")"};
}

/// For destructors, which have nobody to throw to.
void report(cudaError_t error, const char* call) noexcept {
  if (error == cudaSuccess) return;
  static_cast<void>(cudaGetLastError());
  std::fprintf(stderr, "mnist_trainer: %s failed: %s\n", call, cudaGetErrorString(error));
}

}  // namespace

void check(cudaError_t error, const char* call, const char* file, int line) {
  if (error == cudaSuccess) return;
  static_cast<void>(cudaGetLastError());  // so that no later call reports it again
  fail(std::string{cudaGetErrorName(error)} + ", " + cudaGetErrorString(error), call, file, line);
}

void check(cublasStatus_t status, const char* call, const char* file, int line) {
  if (status != CUBLAS_STATUS_SUCCESS) fail(cublasGetStatusString(status), call, file, line);
}

cuda_stream::cuda_stream() {
  FEEDLINE_SAMPLE_CHECK(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
}

cuda_stream::~cuda_stream() {
  report(cudaStreamDestroy(stream_), "cudaStreamDestroy");
}

void cuda_stream::sync() const {
  FEEDLINE_SAMPLE_CHECK(cudaStreamSynchronize(stream_));
}

cublas::cublas(const cuda_stream& stream) {
  FEEDLINE_SAMPLE_CHECK(cublasCreate(&handle_));
  const cublasStatus_t status = cublasSetStream(handle_, stream.get());
  if (status != CUBLAS_STATUS_SUCCESS) static_cast<void>(cublasDestroy(handle_));
  FEEDLINE_SAMPLE_CHECK(status);
}

cublas::~cublas() {
  if (cublasDestroy(handle_) != CUBLAS_STATUS_SUCCESS)
    std::fprintf(stderr, "mnist_trainer: cublasDestroy failed\n");
}

device_memory::device_memory(std::size_t bytes, const cuda_stream& stream) {
  FEEDLINE_SAMPLE_CHECK(cudaMalloc(&memory_, bytes));
  const cudaError_t error = cudaMemsetAsync(memory_, 0, bytes, stream.get());
  if (error != cudaSuccess) report(cudaFree(memory_), "cudaFree");
  FEEDLINE_SAMPLE_CHECK(error);
}

device_memory::device_memory(device_memory&& other) noexcept
    : memory_{std::exchange(other.memory_, nullptr)} {}

device_memory::~device_memory() {
  report(cudaFree(memory_), "cudaFree");
}

}  // namespace mnist
