#pragma once

#include "cuda/kernel/warp.cuh"

#include <cstdint>
#include <type_traits>

namespace feedline::detail {

/// A warp as `zstd_decoder` and `decode_lz4_block` need it, for a warp that is a thread block.
struct block_warp {
  static constexpr std::uint32_t lanes = warp_team::width;
  static constexpr unsigned all = warp_team::all;

  template <class T>
  using per_lane = lane_values<T>;

  template <class Function>
  __device__ void each(Function f) {
    f(threadIdx.x);
    __syncwarp();
  }
  template <class Function>
  __device__ auto map(Function f) {
    return per_lane<std::invoke_result_t<Function, std::uint32_t>>{f(threadIdx.x)};
  }
  template <class Function>
  __device__ void one(Function f) {
    if (threadIdx.x == 0) f();
  }
  template <class Function>
  __device__ bool once(Function f) {
    const bool said = threadIdx.x == 0 && f();
    __syncwarp();
    return __any_sync(all, said);
  }
  __device__ void sync() { __syncwarp(); }

  template <class T>
  __device__ T from(const per_lane<T>& values, std::uint32_t lane) {
    return __shfl_sync(all, values.own, static_cast<int>(lane));
  }
  __device__ bool any(const per_lane<bool>& values) { return __any_sync(all, values.own); }
  __device__ std::uint32_t ballot(const per_lane<bool>& values) {
    return __ballot_sync(all, values.own);
  }
  __device__ std::uint32_t sum(const per_lane<std::uint32_t>& values) {
    return warp_team::sum(values.own);
  }
  __device__ per_lane<std::uint32_t> sum_before(const per_lane<std::uint32_t>& values) {
    return {warp_team::sum_before(values.own)};
  }
  template <class T>
  __device__ per_lane<T> before(const per_lane<T>& values, std::uint32_t apart = 1) {
    return {__shfl_up_sync(all, values.own, apart)};
  }
  /// Each lane gets another one's value.
  template <class T>
  __device__ per_lane<T> gather(const per_lane<T>& values, const per_lane<std::uint32_t>& lane) {
    return {__shfl_sync(all, values.own, static_cast<int>(lane.own % lanes))};
  }
  template <class T>
  __device__ T last(const per_lane<T>& values) {
    return from(values, lanes - 1);
  }
  __device__ per_lane<team_peers> peers(const per_lane<std::uint32_t>& values) {
    return {warp_team::peers(values.own)};
  }
};

}  // namespace feedline::detail
