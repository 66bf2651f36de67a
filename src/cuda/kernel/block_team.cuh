#pragma once

#include "cuda/kernel/warp.cuh"

#include <cstdint>

namespace feedline::detail {

/// What `jpeg_scan_segments` needs of a team, for one that is a thread block of some warps.
template <std::uint32_t Lanes>
class block_team {
 public:
  static constexpr std::uint32_t lanes = Lanes;

  template <class T>
  using per_lane = lane_values<T>;

  /// Memory of the block that teams share with each other: one is at work at a time.
  struct memory {
    std::uint64_t of_lane[lanes];
    std::uint32_t of_warp[lanes / warp_team::width];
  };

  __device__ explicit block_team(memory& shared) : shared_{shared} {}

  template <class Function>
  __device__ void each(Function f) {
    f(threadIdx.x);
    __syncthreads();
  }
  template <class Function>
  __device__ bool once(Function f) {
    return __syncthreads_or(threadIdx.x == 0 && f()) != 0;
  }
  __device__ bool any(const per_lane<bool>& values) { return __syncthreads_or(values.own) != 0; }
  __device__ std::uint32_t least(const per_lane<std::uint32_t>& values) {
    gather(warp_team::least(values.own));
    std::uint32_t least = shared_.of_warp[0];
    for (const std::uint32_t each : shared_.of_warp) least = min(least, each);
    return least;
  }
  __device__ std::uint32_t sum(const per_lane<std::uint32_t>& values) {
    gather(warp_team::sum(values.own));
    std::uint32_t sum = 0;
    for (const std::uint32_t each : shared_.of_warp) sum += each;
    return sum;
  }
  __device__ per_lane<std::uint32_t> sum_before(const per_lane<std::uint32_t>& values) {
    std::uint32_t sum = warp_team::sum_before(values.own);
    gather(warp_team::from(sum + values.own, warp_team::width - 1));
    for (std::uint32_t warp = 0; warp < threadIdx.x / warp_team::width; ++warp)
      sum += shared_.of_warp[warp];
    return {sum};
  }
  __device__ per_lane<std::uint64_t> before(const per_lane<std::uint64_t>& values) {
    __syncthreads();
    shared_.of_lane[threadIdx.x] = values.own;
    __syncthreads();
    return {shared_.of_lane[threadIdx.x == 0 ? 0 : threadIdx.x - 1]};
  }

 private:
  /// Has a value of each warp in the shared memory.
  __device__ void gather(std::uint32_t value) {
    __syncthreads();
    if (warp_team::lane() == 0) shared_.of_warp[threadIdx.x / warp_team::width] = value;
    __syncthreads();
  }

  memory& shared_;
};

}  // namespace feedline::detail
