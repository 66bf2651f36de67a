#pragma once

#include <feedline/dataset/field.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace feedline {

/// What a loader settled on, in full; fixed at construction. `staging_bytes` and `device_bytes` are
/// all the memory the loader allocates for samples, ever.
struct loader_plan {
  std::vector<field> fields;
  std::uint64_t samples_per_epoch = 0;  ///< delivered: without those of a dropped last batch
  std::uint64_t batch_size = 0;
  std::uint64_t batches_per_epoch = 0;
  std::uint64_t batches_per_slot = 0;
  std::uint64_t slots_per_epoch = 0;  ///< tickets
  std::uint64_t request_samples = 0;  ///< samples a reader takes at a time, at most
  std::size_t batch_bytes = 0;        ///< of one batch within a slot, each field aligned
  std::size_t slot_bytes = 0;
  std::size_t staging_slots = 0;
  std::size_t device_slots = 0;   ///< 0 where batches are read in place
  std::size_t staging_bytes = 0;  ///< staging_slots × slot_bytes
  std::size_t device_bytes = 0;   ///< device_slots × slot_bytes
  int readers = 0;
};

/// One line for people: slots, sizes, totals.
[[nodiscard]] std::string to_string(const loader_plan& plan);

}  // namespace feedline
