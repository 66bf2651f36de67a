#pragma once

#include <feedline/loader/loader_options.hpp>
#include <feedline/loader/loader_plan.hpp>

#include "batch/device_ring.hpp"

#include <algorithm>
#include <cstddef>

namespace feedline::detail {

/// Memory that the options allow for batches that are kept, and that the plan leaves of it.
[[nodiscard]] inline growth_limits growth_of(const loader_options& options,
                                             const loader_plan& plan) {
  growth_limits limits{.allowed = options.expert.on_held == on_held::allocate,
                       .max_bytes = options.expert.max_held_bytes};
  const auto leave = [&](std::size_t most, std::size_t used, const char* by) {
    if (most == 0) return;
    limits.left = most - std::min(most, used);
    limits.left_by = by;
  };
  if (plan.device_slots != 0) {
    leave(options.memory.device, plan.device_bytes - plan.cache_bytes, "memory.device");
  } else {
    leave(options.memory.pinned, plan.staging_bytes, "memory.pinned");
    leave(options.expert.tuning.max_pinned_bytes, plan.staging_bytes,
          "expert.tuning.max_pinned_bytes");
  }
  return limits;
}

}  // namespace feedline::detail
