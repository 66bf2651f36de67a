#pragma once

#include <feedline/error.hpp>

#include "ranks.hpp"

#include <cuda_runtime.h>
#ifdef MNIST_HAS_NCCL
#include <nccl.h>
#endif

#include <cstdlib>
#include <exception>
#include <span>
#include <stdexcept>
#include <string>

namespace mnist {

/// Throws with CUDA's words, or those of the library, unless the call succeeded.
#define MNIST_CHECK(call) ::mnist::check((call), #call)
inline void check(cudaError_t error, const std::string& call) {
  if (error != cudaSuccess)
    throw std::runtime_error{call + " failed: " + cudaGetErrorString(error)};
}

#ifdef MNIST_HAS_NCCL
inline constexpr bool has_nccl = true;

inline void check(ncclResult_t result, const std::string& call) {
  if (result != ncclSuccess)
    throw std::runtime_error{call + " failed: " + ncclGetErrorString(result) + ": " +
                             ncclGetLastError(nullptr)};
}

/// How the ranks find each other: NCCL's name for them all. One for a process.
class gpu_team {
 public:
  explicit gpu_team(const process_ranks& ranks) {
    if (ranks.world == 1) return;
    if (!ranks.across_processes()) {
      MNIST_CHECK(ncclGetUniqueId(&id_));
      return;
    }
    const std::string address = meeting_address_from_environment();
    if (!address.empty()) {
      // NCCL itself listens there, in rank 0; so nothing needs to be sent before.
      setenv("NCCL_COMM_ID", address.c_str(), 1);
      MNIST_CHECK(ncclGetUniqueId(&id_));
      return;
    }
    if (ranks.here.front().is_first()) MNIST_CHECK(ncclGetUniqueId(&id_));
    broadcast_by_mpi(id_.internal, ranks.world);
  }
  const ncclUniqueId& id() const { return id_; }

 private:
  ncclUniqueId id_{};
};

/// One rank's way to the others.
class gpu_members {
 public:
  /// On the thread's current GPU. Blocks until all ranks are here.
  gpu_members(const gpu_team& team, const feedline::shard& self) {
    MNIST_CHECK(ncclCommInitRank(&all_, self.world, team.id(), self.rank));
  }
  gpu_members(const gpu_members&) = delete;
  gpu_members& operator=(const gpu_members&) = delete;
  ~gpu_members() {
    // Behind an error there may be sums that the others never come to.
    std::uncaught_exceptions() == 0 ? ncclCommDestroy(all_) : ncclCommAbort(all_);
  }

  void sum(float* values, std::size_t count, cudaStream_t stream) {
    MNIST_CHECK(ncclAllReduce(values, values, count, ncclFloat, ncclSum, all_, stream));
  }
  void sum(unsigned long long* values, std::size_t count, cudaStream_t stream) {
    MNIST_CHECK(ncclAllReduce(values, values, count, ncclUint64, ncclSum, all_, stream));
  }

 private:
  ncclComm_t all_ = nullptr;
};
#else
inline constexpr bool has_nccl = false;

// `ranks_of_process` refuses more than one rank, so that nobody joins.
struct gpu_team {
  explicit gpu_team(const process_ranks&) {}
};
struct gpu_members {
  gpu_members(const gpu_team&, const feedline::shard&) {}
  void sum(const void*, std::size_t, cudaStream_t) {}
};
#endif

}  // namespace mnist
