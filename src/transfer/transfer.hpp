#pragma once

#include <feedline/device/device.hpp>
#include <feedline/index.hpp>

#include "detail/failure.hpp"
#include "device/device_ring.hpp"
#include "device/owned.hpp"
#include "staging/staging_ring.hpp"

#include <cstdint>
#include <memory>

namespace feedline::detail {

/// Moves filled staging slots into device slots, in ticket order: one copy a slot, on a stream of
/// its own.
///
/// It never waits for the device: it orders the copy behind the last use of the device slot,
/// records what the consumer and the staging ring will wait for, and goes on. Threads: one, the
/// transfer's; with zero readers the consumer's.
class transfer {
 public:
  /// @throws device_error if there is no stream to be had.
  transfer(device_ptr device, std::shared_ptr<staging_ring> staging,
           std::shared_ptr<device_ring> ring, std::shared_ptr<failure_board> failures);

  /// Moves the next slot; blocks until it is filled and there is room for it. False when nothing
  /// comes after it: the rings closed, or a failure, which is then on the board behind all that was
  /// delivered.
  bool step();

 private:
  bool deliver(slot_index slot, std::uint64_t batches);
  void copy(staging_slot& from, device_slot& to, std::uint64_t samples);

  device_ptr device_;
  std::shared_ptr<staging_ring> staging_;
  std::shared_ptr<device_ring> ring_;
  std::shared_ptr<failure_board> failures_;
  stream stream_;
};

}  // namespace feedline::detail
