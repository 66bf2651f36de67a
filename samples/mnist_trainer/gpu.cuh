#pragma once

#include <feedline/cuda/device.hpp>

#include "network.hpp"

#include <cublas_v2.h>
#include <cuda_runtime.h>

#include <span>

namespace mnist {

/// Throws with CUDA's words unless the call succeeded.
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

/// What a network needs of a GPU: cuBLAS for the products, a kernel for what is between, on
/// one stream. Functions issue work and return; those that bring something to the host wait for it.
class gpu {
 public:
  explicit gpu(int ordinal) : ordinal_{ordinal}, device_{feedline::make_cuda_device(ordinal)} {
    MNIST_CHECK(cudaSetDevice(ordinal));  // for this, the only thread that uses it
    MNIST_CHECK(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
    MNIST_CHECK(cublasCreate(&blas_));
    MNIST_CHECK(cublasSetStream(blas_, stream_));
  }
  gpu(const gpu&) = delete;
  gpu& operator=(const gpu&) = delete;
  ~gpu() {
    cublasDestroy(blas_);
    for (float* const memory : memory_) cudaFree(memory);
    for (const cudaEvent_t mark : marks_) cudaEventDestroy(mark);
    cudaStreamDestroy(stream_);
  }

  std::string name() const { return "cuda:" + std::to_string(ordinal_); }
  feedline::device_ptr device() const { return device_; }
  feedline::stream_ref stream() const { return feedline::stream_ref{stream_}; }

  float* allocate(std::size_t count) {
    MNIST_CHECK(cudaMalloc(&memory_.emplace_back(), count * sizeof(float)));
    MNIST_CHECK(cudaMemsetAsync(memory_.back(), 0, count * sizeof(float), stream_));
    return memory_.back();
  }
  void upload(std::span<const float> from, float* to) {
    MNIST_CHECK(cudaMemcpyAsync(to, from.data(), from.size_bytes(), cudaMemcpyDefault, stream_));
    MNIST_CHECK(cudaStreamSynchronize(stream_));
  }
  void download(const float* from, std::span<float> to) { upload({from, to.size()}, to.data()); }

  void multiply(const matrix& left, const matrix& right, float keep, float* out) {
    const auto operation = [](const matrix& of) {
      return of.transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
    };
    const auto height = [](const matrix& of) {
      return static_cast<int>(of.transposed ? of.columns : of.rows);
    };
    const float one = 1.0F;
    const auto rows = static_cast<int>(left.rows);
    MNIST_CHECK(cublasSgemm(blas_, operation(left), operation(right), rows,
                            static_cast<int>(right.columns), static_cast<int>(left.columns), &one,
                            left.data, height(left), right.data, height(right), &keep, out, rows));
  }

  template <class Operation>
  void for_each(std::size_t count, Operation operation) {
    const auto blocks = static_cast<unsigned>((count + 255) / 256);
    for_each_kernel<<<blocks, 256, 0, stream_>>>(count, operation);
    MNIST_CHECK(cudaGetLastError());
  }

  // The host's clock would mislead. Taking a batch makes the *stream* wait for its copy, not the
  // host; and a host that is ahead may block at no cost, as the stream has work. So events on
  // the stream measure: the GPU passes the first when the work before it is done, the second when
  // the batch is there too. What is found is about a microsecond too high for each pair.
  void begin_wait() { mark(); }
  void end_wait() { mark(); }
  seconds take_waited() {
    MNIST_CHECK(cudaStreamSynchronize(stream_));
    double waited = 0.0;
    for (std::size_t i = 0; i < marked_; i += 2) {
      float milliseconds = 0.0F;
      MNIST_CHECK(cudaEventElapsedTime(&milliseconds, marks_[i], marks_[i + 1]));
      waited += 1e-3 * milliseconds;
    }
    marked_ = 0;
    return seconds{waited};
  }

 private:
  void mark() {
    if (marked_ == marks_.size()) MNIST_CHECK(cudaEventCreate(&marks_.emplace_back()));
    MNIST_CHECK(cudaEventRecord(marks_[marked_++], stream_));
  }

  int ordinal_;
  feedline::device_ptr device_;
  cudaStream_t stream_ = nullptr;
  cublasHandle_t blas_ = nullptr;
  std::vector<float*> memory_;
  std::vector<cudaEvent_t> marks_;  // begins and ends of waiting, by turns
  std::size_t marked_ = 0;          // since the last `take_waited`
};

}  // namespace mnist
