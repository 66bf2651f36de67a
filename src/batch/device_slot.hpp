#pragma once

#include <feedline/device/stream_ref.hpp>
#include <feedline/index.hpp>

#include "batch/slot_leases.hpp"
#include "detail/failure.hpp"
#include "device/owned.hpp"
#include "staging/slot_work.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace feedline::detail {

/// The states of a device slot.
///
/// | from   | to     | who, when | | ------ | ------ |
/// --------------------------------------------------------------------------- | | free   | filled
/// | transfer: what fills it waits for `released`, is issued, `ready` recorded   | | filled |
/// leased | consumer: its stream waits for `ready`                                      | | leased
/// | free   | whoever ends the last lease or, later, the cursor that deals no more of it    | |
/// filled | free   | consumer: the epoch was abandoned, or no batch of the slot is good          |
///
/// Invariant: between the last batch's end and the next copy's start lies `released`, recorded on
/// the consumer's stream as the batch ends and never later; between the copy's end and the
/// consumer's first kernel lies `ready`. The host waits for neither. Where the device reads staging
/// memory, device slot i *is* staging slot i: it has no memory and no events' meaning of its own;
/// its end hands the staging slot back.
enum class device_state : std::uint32_t { free, filled, leased };

/// What a device slot holds: whole batches of one ticket, those before its failure if it has one.
/// There may be none if there is a failure: then nothing was copied.
struct slot_content : slot_work {
  std::optional<detail::failure> failure = {};  ///< why the batch behind these cannot be delivered
};

/// One slot of the device ring.
struct device_slot {
  explicit device_slot(const device_ptr& device) : ready{device}, released{device} {}

  std::atomic<device_state> state{device_state::free};
  std::byte* data = nullptr;
  event ready;     ///< recorded behind the copy into the slot
  event released;  ///< recorded behind the consumer's work on the slot
  /// Work on the slot was issued that no event stands behind: its memory is never used again, nor
  /// freed. Written by who issued it.
  bool lost = false;
  /// The last batch ended while its stream was captured: `released` is to be recorded yet. Written
  /// by who ends it, or who frees the slot later.
  bool unmarked = false;
  slot_content content{};  ///< written in free → filled
  stream_ref stream;       ///< the consumer's, written in filled → leased
  slot_leases leases;      ///< who holds the slot in leased
};

}  // namespace feedline::detail
