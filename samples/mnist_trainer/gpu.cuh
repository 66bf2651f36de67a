#pragma once

#include <feedline/cuda/device.hpp>
#include <feedline/error.hpp>

#include "network.hpp"
#include "options.hpp"

#include <cublas_v2.h>
#include <cuda_runtime.h>
#ifdef MNIST_HAS_NCCL
#include <nccl.h>
#endif

#include <cstdlib>
#include <exception>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

namespace mnist {

/// Throws with the words of CUDA, cuBLAS or NCCL, unless the call succeeded.
#define MNIST_CHECK(call) ::mnist::check((call), #call)
inline void check(cudaError_t error, const std::string& call) {
  if (error != cudaSuccess)
    throw std::runtime_error{call + " failed: " + cudaGetErrorString(error)};
}
inline void check(cublasStatus_t status, const std::string& call) {
  if (status != CUBLAS_STATUS_SUCCESS)
    throw std::runtime_error{call + " failed: " + cublasGetStatusString(status)};
}

#ifdef MNIST_HAS_NCCL
inline constexpr bool has_nccl = true;

inline void check(ncclResult_t result, const std::string& call) {
  if (result != ncclSuccess)
    throw std::runtime_error{call + " failed: " + ncclGetErrorString(result) + ": " +
                             ncclGetLastError(nullptr)};
}
#else
inline constexpr bool has_nccl = false;

// `ranks_of_process` refuses more than one rank, so no rank joins.
struct ncclUniqueId {
  char internal[1];
};
#endif

/// NCCL's identifier, by which the ranks find each other. One for a process.
class gpu_team {
 public:
  explicit gpu_team([[maybe_unused]] const process_ranks& ranks) {
#ifdef MNIST_HAS_NCCL
    if (ranks.world == 1) return;
    const bool together = !ranks.across_processes();
    const std::string address = together ? "" : meeting_address_from_environment();
    // NCCL itself listens there, in rank 0, so nothing has to be sent first.
    if (!address.empty()) setenv("NCCL_COMM_ID", address.c_str(), 1);
    const bool by_mpi = !together && address.empty();
    if (!by_mpi || ranks.here.front().is_first()) MNIST_CHECK(ncclGetUniqueId(&id_));
    if (by_mpi) broadcast_by_mpi(id_.internal, ranks.world);
#endif
  }
  const ncclUniqueId& id() const {
    return id_;
  }

 private:
  ncclUniqueId id_{};
};

template <class Operation>
__global__ void for_each_kernel(std::size_t count, Operation operation) {
  const std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < count) operation(i);
}

/// The functions that a network needs, computed by a GPU: cuBLAS for the products and a kernel for
/// the rest, on one stream; NCCL for sums over ranks, on another. Functions issue work and return;
/// those that copy to the host wait for it.
class gpu {
 public:
  using team = gpu_team;

  explicit gpu(const rank& self) : rank_{self}, device_{feedline::make_cuda_device(self.gpu)} {
    MNIST_CHECK(cudaSetDevice(self.gpu));  // for this thread, the only one that uses it
    for (cudaStream_t* const stream : {&stream_, &sum_stream_})
      MNIST_CHECK(cudaStreamCreateWithFlags(stream, cudaStreamNonBlocking));
    for (cudaEvent_t* const event : {&computed_, &summed_})
      MNIST_CHECK(cudaEventCreateWithFlags(event, cudaEventDisableTiming));
    MNIST_CHECK(cublasCreate(&blas_));
    MNIST_CHECK(cublasSetStream(blas_, stream_));
    MNIST_CHECK(cublasSetMathMode(blas_, CUBLAS_TF32_TENSOR_OP_MATH));
  }
  gpu(const gpu&) = delete;
  gpu& operator=(const gpu&) = delete;
  ~gpu() {
#ifdef MNIST_HAS_NCCL
    // After an error there may be sums that the other ranks never reach.
    if (joined_) std::uncaught_exceptions() == 0 ? ncclCommDestroy(all_) : ncclCommAbort(all_);
#endif
    cublasDestroy(blas_);
    for (void* const memory : memory_) cudaFree(memory);
    for (const cudaEvent_t mark : marks_) cudaEventDestroy(mark);
    for (const cudaEvent_t event : {computed_, summed_}) cudaEventDestroy(event);
    for (const cudaStream_t stream : {sum_stream_, stream_}) cudaStreamDestroy(stream);
  }

  /// Sums are over this rank alone until it joins. Blocks until all ranks do.
  void join([[maybe_unused]] gpu_team& all) {
#ifdef MNIST_HAS_NCCL
    MNIST_CHECK(ncclCommInitRank(&all_, rank_.share.world, all.id(), rank_.share.rank));
    joined_ = true;
#endif
  }

  std::string name() const {
    return "cuda:" + std::to_string(rank_.gpu);
  }
  feedline::device_ptr device() const {
    return device_;
  }
  feedline::stream_ref stream() const {
    return feedline::stream_ref{stream_};
  }

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
  void sum([[maybe_unused]] Value* values, [[maybe_unused]] std::size_t count) {
#ifdef MNIST_HAS_NCCL
    if (!joined_) return;
    MNIST_CHECK(cudaEventRecord(computed_, stream_));
    MNIST_CHECK(cudaStreamWaitEvent(sum_stream_, computed_));
    const auto type = std::is_same_v<Value, float> ? ncclFloat : ncclUint64;
    MNIST_CHECK(ncclAllReduce(values, values, count, type, ncclSum, all_, sum_stream_));
#endif
  }
  void wait_for_sums() {
    if (!joined_) return;
    MNIST_CHECK(cudaEventRecord(summed_, sum_stream_));
    MNIST_CHECK(cudaStreamWaitEvent(stream_, summed_));
  }

  // The host's clock would mislead. Taking a batch makes the *stream* wait for its copy, not the
  // host; and a host that is ahead may block at no cost, as the stream has work. So events on the
  // stream measure: the GPU passes the first when the work before it is done, the second when the
  // batch is there too. The result is about a microsecond too high for each pair.
  void begin_wait() {
    mark();
  }
  void end_wait() {
    mark();
  }
  epoch_times take_times() {
    MNIST_CHECK(cudaStreamSynchronize(stream_));
    epoch_times times{.took = between(0, marked_ - 1)};
    for (std::size_t i = 0; i < marked_; i += 2) times.waited += between(i, i + 1);
    marked_ = 0;
    return times;
  }

 private:
  void mark() {
    if (marked_ == marks_.size()) MNIST_CHECK(cudaEventCreate(&marks_.emplace_back()));
    MNIST_CHECK(cudaEventRecord(marks_[marked_++], stream_));
  }
  seconds between(std::size_t begin, std::size_t end) const {
    float milliseconds = 0.0F;
    MNIST_CHECK(cudaEventElapsedTime(&milliseconds, marks_[begin], marks_[end]));
    return seconds{1e-3 * milliseconds};
  }

  rank rank_;
  feedline::device_ptr device_;
  cudaStream_t stream_ = nullptr;
  cudaStream_t sum_stream_ = nullptr;
  cudaEvent_t computed_ = nullptr;  // recorded on `stream_`; `sum_stream_` waits for it
  cudaEvent_t summed_ = nullptr;    // recorded on `sum_stream_`; `stream_` waits for it
  cublasHandle_t blas_ = nullptr;
  std::vector<void*> memory_;
  std::vector<cudaEvent_t> marks_;  // begin and end of each wait, alternating
  std::size_t marked_ = 0;          // since the last `take_times`
  bool joined_ = false;
#ifdef MNIST_HAS_NCCL
  ncclComm_t all_ = nullptr;
#endif
};

}  // namespace mnist
