#pragma once

#include "device/inflate/team.hpp"

#include <cstdint>

namespace feedline::detail {

/// The team of a warp, all of whose threads are at work.
struct warp_team {
  static constexpr std::uint32_t width = 32;
  static constexpr unsigned all = 0xFFFFFFFF;

  __device__ static std::uint32_t lane() { return threadIdx.x % width; }
  __device__ static std::uint32_t from(std::uint32_t value, std::uint32_t lane) {
    return __shfl_sync(all, value, static_cast<int>(lane));
  }
  __device__ static team_peers peers(std::uint32_t value) {
    const unsigned same = __match_any_sync(all, value);
    return {static_cast<std::uint32_t>(__popc(same & ((1U << lane()) - 1U))),
            static_cast<std::uint32_t>(__popc(same))};
  }
  __device__ static void sync() { __syncwarp(); }
};

}  // namespace feedline::detail
