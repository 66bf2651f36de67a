#pragma once

#include <feedline/cuda/device.hpp>

#include "network.hpp"

#include <cublas_v2.h>
#include <cuda_runtime.h>

#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace mnist {

/// Throws with the words of CUDA or cuBLAS unless the call succeeded.
#define MNIST_CHECK(call) ::mnist::check((call), #call)
inline void check(cudaError_t error, const std::string& call) {
  if (error != cudaSuccess)
    throw std::runtime_error{call + " failed: " + cudaGetErrorString(error)};
}
inline void check(cublasStatus_t status, const std::string& call) {
  if (status != CUBLAS_STATUS_SUCCESS)
    throw std::runtime_error{call + " failed: " + cublasGetStatusString(status)};
}

template <class Operation>
__global__ void for_each_kernel(std::size_t count, Operation operation) {
  const std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < count) operation(i);
}

/// The functions that a network needs, computed by a GPU: cuBLAS for the products and a kernel for
/// the rest, on one stream. Functions issue work and return; copies wait for it.
class gpu : public alone {
 public:
  explicit gpu(int index) : index_{index}, device_{feedline::make_cuda_device(index)} {
    MNIST_CHECK(cudaSetDevice(index));  // for this thread, the only one that uses it
    MNIST_CHECK(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
    for (cudaEvent_t* const event : {&began_, &ended_}) MNIST_CHECK(cudaEventCreate(event));
    MNIST_CHECK(cublasCreate(&blas_));
    MNIST_CHECK(cublasSetStream(blas_, stream_));
    MNIST_CHECK(cublasSetMathMode(blas_, CUBLAS_TF32_TENSOR_OP_MATH));
  }
  gpu(const gpu&) = delete;
  gpu& operator=(const gpu&) = delete;
  ~gpu() {
    cublasDestroy(blas_);
    for (void* const memory : memory_) cudaFree(memory);
    for (const cudaEvent_t event : {began_, ended_}) cudaEventDestroy(event);
    cudaStreamDestroy(stream_);
  }

  std::string name() const { return "cuda:" + std::to_string(index_); }
  feedline::device_ptr device() const { return device_; }
  feedline::stream_ref stream() const { return feedline::stream_ref{stream_}; }

  template <class Value>
  Value* allocate(std::size_t count) {
    MNIST_CHECK(cudaMalloc(&memory_.emplace_back(), count * sizeof(Value)));
    MNIST_CHECK(cudaMemsetAsync(memory_.back(), 0, count * sizeof(Value), stream_));
    return static_cast<Value*>(memory_.back());
  }
  template <class Value>
  void upload(std::span<const Value> from, Value* to) {
    MNIST_CHECK(cudaMemcpyAsync(to, from.data(), from.size_bytes(), cudaMemcpyDefault, stream_));
    MNIST_CHECK(cudaStreamSynchronize(stream_));
  }
  template <class Value>
  void download(const Value* from, std::span<Value> to) {
    upload(std::span<const Value>{from, to.size()}, to.data());
  }

  void multiply(const matrix& left, const matrix& right, float keep, float* out) {
    const auto operation = [](const matrix& of) {
      return of.transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
    };
    const auto integer = [](std::size_t number) { return static_cast<int>(number); };
    const float one = 1.0F;
    MNIST_CHECK(cublasSgemm(blas_, operation(left), operation(right), integer(left.rows),
                            integer(right.columns), integer(left.columns), &one, left.data,
                            integer(left.height()), right.data, integer(right.height()), &keep, out,
                            integer(left.rows)));
  }

  template <class Operation>
  void for_each(std::size_t count, Operation operation) {
    if (count == 0) return;
    const auto blocks = static_cast<unsigned>((count + 255) / 256);
    for_each_kernel<<<blocks, 256, 0, stream_>>>(count, operation);
    MNIST_CHECK(cudaGetLastError());
  }

  void begin() { MNIST_CHECK(cudaEventRecord(began_, stream_)); }
  double seconds() {
    MNIST_CHECK(cudaEventRecord(ended_, stream_));
    MNIST_CHECK(cudaEventSynchronize(ended_));
    float milliseconds = 0;
    MNIST_CHECK(cudaEventElapsedTime(&milliseconds, began_, ended_));
    return 1e-3 * milliseconds;
  }

 protected:
  cudaStream_t stream_ = nullptr;

 private:
  int index_;
  feedline::device_ptr device_;
  cudaEvent_t began_ = nullptr;
  cudaEvent_t ended_ = nullptr;
  cublasHandle_t blas_ = nullptr;
  std::vector<void*> memory_;
};

}  // namespace mnist
