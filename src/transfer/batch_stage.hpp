#pragma once

#include <feedline/device/device.hpp>
#include <feedline/transform/batch_transform.hpp>

#include "device/owned.hpp"
#include "staging/slot_layout.hpp"
#include "staging/staging_slot.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace feedline::detail {

/// Runs a user's function over a slot's batches, from memory of its own into the device slot. Its
/// memory is one slot: all work on it stands on one stream. Threads: the transfer's.
class batch_stage {
 public:
  /// @param in  The slot as it is assembled. @param out As the consumer sees it.
  /// @throws out_of_memory, device_error.
  batch_stage(const device_ptr& device, batch_transform function, slot_layout in, slot_layout out);

  /// Where the slot is to be assembled.
  [[nodiscard]] std::byte* input() const noexcept { return memory_.data(); }
  /// Calls the function for each batch of a ticket's first `samples`, to write into device memory.
  /// @throws batch_failure with what it throws.
  void run(std::byte* slot, const slot_work& work, std::uint64_t samples, stream_ref stream);
  /// Never frees its memory: work may still use it.
  void leak_memory() noexcept;

 private:
  batch_transform transform_;
  slot_layout in_;
  slot_layout out_;
  device_memory memory_;
  std::vector<tensor_view> views_;
  std::vector<std::span<std::byte>> spans_;
};

}  // namespace feedline::detail
