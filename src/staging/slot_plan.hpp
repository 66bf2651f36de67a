#pragma once

#include <cstddef>
#include <cstdint>

namespace feedline::detail {

/// What readers need to know of a loader's plan; see `loader_plan`, whose names these are.
struct slot_plan {
  std::uint64_t samples_per_epoch = 0;
  std::uint64_t batch_size = 0;
  std::uint64_t batches_per_epoch = 0;
  std::uint64_t batches_per_slot = 0;
  bool slots_grow = false;
  std::uint64_t request_samples = 0;
  std::size_t staging_slots = 0;
  int readers = 0;
};

}  // namespace feedline::detail
