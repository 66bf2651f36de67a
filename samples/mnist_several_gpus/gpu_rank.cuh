#pragma once

#include "gpu.cuh"
#include "launch.hpp"

#include <cstdlib>
#include <exception>
#include <string>
#include <type_traits>
#include <vector>

#include <nccl.h>

namespace mnist {

inline void check(ncclResult_t result, const std::string& call) {
  if (result != ncclSuccess)
    throw std::runtime_error{call + " failed: " + ncclGetErrorString(result) + ": " +
                             ncclGetLastError(nullptr)};
}

/// NCCL's identifier, by which the ranks find each other. One for a process.
class gpu_team {
 public:
  explicit gpu_team(const process_ranks& ranks) {
    if (ranks.world == 1) return;
    const bool together = !ranks.across_processes();
    const std::string address = together ? "" : meeting_address_from_environment();
    // NCCL itself listens there, in rank 0, so nothing has to be sent first.
    if (!address.empty()) setenv("NCCL_COMM_ID", address.c_str(), 1);
    const bool by_mpi = !together && address.empty();
    if (!by_mpi || ranks.here.front().is_first()) MNIST_CHECK(ncclGetUniqueId(&id_));
    if (by_mpi) broadcast_by_mpi(id_.internal, ranks.world);
  }
  const ncclUniqueId& id() const { return id_; }

 private:
  ncclUniqueId id_{};
};

/// A GPU that is one of several ranks: NCCL sums over them, on a stream of its own.
class gpu_rank : public gpu {
 public:
  using team = gpu_team;

  explicit gpu_rank(const rank& self) : gpu{self.gpu}, share_{self.share} {
    MNIST_CHECK(cudaStreamCreateWithFlags(&sum_stream_, cudaStreamNonBlocking));
    for (cudaEvent_t* const event : {&computed_, &summed_})
      MNIST_CHECK(cudaEventCreateWithFlags(event, cudaEventDisableTiming));
  }
  ~gpu_rank() {
    // After an error there may be sums that the other ranks never reach.
    if (joined_) std::uncaught_exceptions() == 0 ? ncclCommDestroy(all_) : ncclCommAbort(all_);
    for (const cudaEvent_t event : {computed_, summed_}) cudaEventDestroy(event);
    cudaStreamDestroy(sum_stream_);
  }

  /// Sums are over this rank alone until it joins. Blocks until all ranks do.
  void join(gpu_team& all) {
    MNIST_CHECK(ncclCommInitRank(&all_, share_.world, all.id(), share_.rank));
    joined_ = true;
  }
  const feedline::shard& share() const { return share_; }

  template <class Value>
  void sum(Value* values, std::size_t count) {
    if (!joined_ || count == 0) return;
    MNIST_CHECK(cudaEventRecord(computed_, stream_));
    MNIST_CHECK(cudaStreamWaitEvent(sum_stream_, computed_));
    const auto type = std::is_same_v<Value, float> ? ncclFloat : ncclUint64;
    MNIST_CHECK(ncclAllReduce(values, values, count, type, ncclSum, all_, sum_stream_));
  }
  void wait_for_sums() {
    if (!joined_) return;
    MNIST_CHECK(cudaEventRecord(summed_, sum_stream_));
    MNIST_CHECK(cudaStreamWaitEvent(stream_, summed_));
  }
  /// Sums values of the host. Waits for the sums.
  void sum_on_host(std::vector<unsigned long long>& values) {
    if (!joined_ || values.empty()) return;
    if (values.size() > room_) on_device_ = allocate<unsigned long long>(room_ = values.size());
    upload(std::span<const unsigned long long>{values}, on_device_);
    sum(on_device_, values.size());
    wait_for_sums();
    download(on_device_, std::span{values});
  }

 private:
  ncclComm_t all_ = nullptr;
  feedline::shard share_;
  bool joined_ = false;
  unsigned long long* on_device_ = nullptr;  // `sum_on_host` has room for `room_` values there
  std::size_t room_ = 0;
  cudaStream_t sum_stream_ = nullptr;
  cudaEvent_t computed_ = nullptr;  // recorded on `stream_`; `sum_stream_` waits for it
  cudaEvent_t summed_ = nullptr;    // recorded on `sum_stream_`; `stream_` waits for it
};

}  // namespace mnist
