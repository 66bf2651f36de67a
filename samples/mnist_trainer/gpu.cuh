#pragma once

#include <feedline/cuda/device.hpp>

#include "gpu_team.cuh"
#include "operations.hpp"
#include "ranks.hpp"
#include "report.hpp"

#include <cublas_v2.h>
#include <cuda_runtime.h>

#include <chrono>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace mnist {

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
/// one stream; NCCL for sums over ranks, on another. Functions issue work and return; those that
/// bring something to the host wait for it.
class gpu {
 public:
  using team = gpu_team;

  explicit gpu(const rank& self) : rank_{self}, device_{feedline::make_cuda_device(self.gpu)} {
    MNIST_CHECK(cudaSetDevice(self.gpu));  // for this, the only thread that uses it
    MNIST_CHECK(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
    MNIST_CHECK(cudaStreamCreateWithFlags(&sum_stream_, cudaStreamNonBlocking));
    for (cudaEvent_t* const event : {&computed_, &summed_})
      MNIST_CHECK(cudaEventCreateWithFlags(event, cudaEventDisableTiming));
    MNIST_CHECK(cublasCreate(&blas_));
    MNIST_CHECK(cublasSetStream(blas_, stream_));
  }
  gpu(const gpu&) = delete;
  gpu& operator=(const gpu&) = delete;
  ~gpu() {
    members_.reset();
    cublasDestroy(blas_);
    for (void* const memory : memory_) cudaFree(memory);
    for (const cudaEvent_t mark : marks_) cudaEventDestroy(mark);
    for (const cudaEvent_t event : {computed_, summed_}) cudaEventDestroy(event);
    for (const cudaStream_t stream : {sum_stream_, stream_}) cudaStreamDestroy(stream);
  }

  /// Sums are over this rank alone until it joins. Blocks until all ranks do.
  void join(gpu_team& all) { members_.emplace(all, rank_.share); }

  std::string name() const { return "cuda:" + std::to_string(rank_.gpu); }
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
    if (count == 0) return;
    const auto blocks = static_cast<unsigned>((count + 255) / 256);
    for_each_kernel<<<blocks, 256, 0, stream_>>>(count, operation);
    MNIST_CHECK(cudaGetLastError());
  }

  template <class Value>
  void sum(Value* values, std::size_t count) {
    if (!members_) return;
    MNIST_CHECK(cudaEventRecord(computed_, stream_));
    MNIST_CHECK(cudaStreamWaitEvent(sum_stream_, computed_));
    members_->sum(values, count, sum_stream_);
  }
  void wait_for_sums() {
    if (!members_) return;
    MNIST_CHECK(cudaEventRecord(summed_, sum_stream_));
    MNIST_CHECK(cudaStreamWaitEvent(stream_, summed_));
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

  rank rank_;
  feedline::device_ptr device_;
  cudaStream_t stream_ = nullptr;
  cudaStream_t sum_stream_ = nullptr;
  cudaEvent_t computed_ = nullptr;  // on `stream_`, for `sum_stream_` to wait for
  cudaEvent_t summed_ = nullptr;    // the other way round
  cublasHandle_t blas_ = nullptr;
  std::vector<void*> memory_;
  std::vector<cudaEvent_t> marks_;  // begins and ends of waiting, by turns
  std::size_t marked_ = 0;          // since the last `take_waited`
  std::optional<gpu_members> members_;
};

}  // namespace mnist
