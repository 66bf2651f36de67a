#pragma once

#include <feedline/index.hpp>

#include "detail/failure.hpp"
#include "device/device_ring.hpp"
#include "staging/staging_ring.hpp"
#include "transfer/carrier.hpp"

#include <cstdint>
#include <memory>

namespace feedline::detail {

/// Moves filled staging slots into device slots, in ticket order.
///
/// It never waits for the device: how a slot's bytes get there is its carrier's affair, which orders
/// them behind the last use of the device slot, records what the consumer and the staging ring will
/// wait for, and goes on. Threads: one, the transfer's; with zero readers the consumer's.
class transfer {
 public:
  /// @param carrier Null where slots are read in place.
  transfer(std::unique_ptr<carrier> carrier, std::shared_ptr<staging_ring> staging,
           std::shared_ptr<device_ring> ring, std::shared_ptr<failure_board> failures);

  /// Moves the next slot; blocks until it is filled and there is room for it. False when nothing
  /// comes after it: the rings closed, or a failure, which is then on the board behind all that was
  /// delivered.
  bool step();

 private:
  bool deliver(slot_index slot, std::uint64_t batches);

  std::unique_ptr<carrier> carrier_;
  std::shared_ptr<staging_ring> staging_;
  std::shared_ptr<device_ring> ring_;
  std::shared_ptr<failure_board> failures_;
};

}  // namespace feedline::detail
