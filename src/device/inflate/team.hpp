#pragma once

#include "detail/host_device.hpp"

#include <cstdint>

namespace feedline::detail {

// A team is threads that run the same code in step: a warp of a GPU (cuda/kernel/warp.cuh), or one
// thread of the host. All get the same values, but for their lane and what is worked out of it.

/// Threads of a team whose values are equal, as seen by one of them.
struct team_peers {
  std::uint32_t rank;  ///< of them, those with a lower lane
  std::uint32_t size;
};

/// The host's team.
struct team_of_one {
  static constexpr std::uint32_t width = 1;

  FEEDLINE_HOST_DEVICE static std::uint32_t lane() { return 0; }
  /// The value of the thread in that lane.
  FEEDLINE_HOST_DEVICE static std::uint32_t from(std::uint32_t value, std::uint32_t /*lane*/) {
    return value;
  }
  FEEDLINE_HOST_DEVICE static team_peers peers(std::uint32_t /*value*/) { return {0, 1}; }
  /// What one thread wrote before, all read behind it.
  FEEDLINE_HOST_DEVICE static void sync() {}
};

}  // namespace feedline::detail
