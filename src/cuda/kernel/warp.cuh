#pragma once

#include "codecs/team.hpp"

#include <cstdint>

namespace feedline::detail {

/// A value of each lane of a team on a GPU: each thread holds its own.
template <class T>
struct lane_values {
  T own;
  __device__ T& operator[](std::uint32_t) { return own; }
  __device__ const T& operator[](std::uint32_t) const { return own; }
};

/// The team of a warp whose threads are all active.
struct warp_team {
  static constexpr std::uint32_t width = 32;
  static constexpr unsigned all = 0xFFFFFFFF;

  __device__ static std::uint32_t lane() { return threadIdx.x % width; }
  __device__ static std::uint32_t from(std::uint32_t value, std::uint32_t lane) {
    return __shfl_sync(all, value, static_cast<int>(lane));
  }
  __device__ static std::uint32_t least(std::uint32_t value) {
    for (std::uint32_t apart = width / 2; apart > 0; apart /= 2)
      value = min(value, __shfl_xor_sync(all, value, apart));
    return value;
  }
  __device__ static std::uint32_t sum(std::uint32_t value) {
    for (std::uint32_t apart = width / 2; apart > 0; apart /= 2)
      value += __shfl_xor_sync(all, value, apart);
    return value;
  }
  /// Sum over the lanes before this one.
  __device__ static std::uint32_t sum_before(std::uint32_t value) {
    std::uint32_t sum = value;
    for (std::uint32_t apart = 1; apart < width; apart *= 2) {
      const std::uint32_t before = __shfl_up_sync(all, sum, apart);
      if (lane() >= apart) sum += before;
    }
    return sum - value;
  }
  __device__ static team_peers peers(std::uint32_t value) {
    const unsigned same = __match_any_sync(all, value);
    return {static_cast<std::uint32_t>(__popc(same & ((1U << lane()) - 1U))),
            static_cast<std::uint32_t>(__popc(same))};
  }
  __device__ static void sync() { __syncwarp(); }
};

}  // namespace feedline::detail
