#pragma once

#include "detail/host_device.hpp"

#include <cstdint>

namespace feedline::detail {

// A team is a set of threads that run the same code in step: a warp of a GPU
// (cuda/kernel/warp.cuh), or one thread of the host. All threads compute the same values, except
// their lane and what depends on it.

/// The threads of a team that have the same value, as seen by one of them.
struct team_peers {
  std::uint32_t rank;  ///< number of them with a lower lane
  std::uint32_t size;
};

/// The host's team.
struct team_of_one {
  static constexpr std::uint32_t width = 1;

  FEEDLINE_HOST_DEVICE static std::uint32_t lane() { return 0; }
  /// The value of the thread `lane`.
  FEEDLINE_HOST_DEVICE static std::uint32_t from(std::uint32_t value, std::uint32_t /*lane*/) {
    return value;
  }
  FEEDLINE_HOST_DEVICE static std::uint32_t sum(std::uint32_t value) { return value; }
  FEEDLINE_HOST_DEVICE static team_peers peers(std::uint32_t /*value*/) { return {0, 1}; }
  /// Afterwards all threads see what each of them wrote before.
  FEEDLINE_HOST_DEVICE static void sync() {}
};

}  // namespace feedline::detail
