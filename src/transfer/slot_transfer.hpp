#pragma once

#include <feedline/backend/device.hpp>

#include "batch/device_slot.hpp"
#include "device/owned.hpp"
#include "staging/slot_layout.hpp"
#include "staging/staging_slot.hpp"
#include "transfer/copy_meter.hpp"

#include <array>
#include <cstdint>
#include <exception>
#include <utility>

namespace feedline::detail {

/// Thrown if only the first `good_batches` batches of a slot could be transferred.
struct batch_failure {
  std::uint64_t good_batches;
  std::exception_ptr cause;
};

/// Issues all work that moves a filled staging slot's samples into a device slot, and waits for
/// nothing. If a device slot's ticket has several pieces, they are moved one after the other, in
/// order.
///
/// The work begins to write the device slot after `to.released`; `to.ready` is recorded after it
/// and the pieces before, and `from.copied` after the last part of it that reads the staging slot.
/// If it throws, these events are recorded after all issued work, and both slots can be used again;
/// if the device does not allow even that, both are marked `lost`. Threads: the transfer's.
class slot_transfer {
 public:
  /// @throws device_error
  explicit slot_transfer(const device_ptr& device) : copies_{device} {}
  slot_transfer(const slot_transfer&) = delete;
  slot_transfer& operator=(const slot_transfer&) = delete;
  virtual ~slot_transfer() = default;

  /// @param samples The staging slot's first ones; 0 where the ticket ends with the piece before.
  /// @throws device_error; batch_failure where a user's function throws.
  virtual void carry(staging_slot& from, device_slot& to, std::uint64_t samples) = 0;
  /// The same for a staging slot with blocks only, for the device to decode. These precede their
  /// samples, and no device slot is involved. If it fails, so does `carry` with the samples.
  /// @throws device_error
  virtual void carry_blocks(staging_slot& /*from*/) {}

  /// Its copies so far.
  [[nodiscard]] const copy_meter& copies() const noexcept { return copies_; }

  /// Whether no issued work uses the slot transfer's memory any more; never blocks.
  /// @throws device_error
  [[nodiscard]] virtual bool is_idle() { return true; }
  /// Whether issued work may also use memory of the user's, which may be freed once the loader is
  /// destroyed: then the destructor waits for all work.
  [[nodiscard]] virtual bool uses_others_memory() const noexcept { return false; }

 protected:
  copy_meter copies_;  ///< issues all its copies
};

/// Moves slots that are a device slot's image by one copy, and parts of a batch by a copy for each
/// field. So are batches whose size differs from batch to batch: only their bytes are copied.
///
/// Parts of batches alternate between two streams, so that small copies on one of them overlap the
/// large one on the other. They use one stream if the consumer was late to release the slot: each
/// stream with work slows the consumer's kernels a little, and these copies are not urgent then.
/// Whole batches use one stream: two large copies at once would end at once, and their staging
/// slots would be filled at once. On a piece's stream:
///
///     wait for the device slot's `released` and `ready`, once for all pieces of it: nobody took a
///     slot of an epoch that was left, so what was put there may be on its way still,
///     copy, record the staging slot's `copied`,
///     wait for `copied` of the piece before, if it is the same batch's on the other stream,
///     record `ready`
class copy_transfer final : public slot_transfer {
 public:
  /// @param pieces Layout of a staging slot. @param slots Layout of a device slot.
  /// @throws device_error if no stream is available.
  copy_transfer(device_ptr device, slot_layout pieces, slot_layout slots)
      : slot_transfer{device},
        device_{std::move(device)},
        pieces_{std::move(pieces)},
        slots_{std::move(slots)},
        streams_{{stream{device_}, stream{device_}}} {}
  void carry(staging_slot& from, device_slot& to, std::uint64_t samples) override;

 private:
  /// A staging slot holds a part of a batch.
  [[nodiscard]] bool holds_parts() const noexcept {
    return pieces_.batch_size() != slots_.batch_size();
  }
  [[nodiscard]] bool takes_turns(const device_slot& to) const noexcept {
    return holds_parts() && !to.released_late;
  }
  /// Copies samples of one batch. @param done Samples of the staging slot before them.
  void copy_fields(const staging_slot& from, const device_slot& to, std::uint64_t done,
                   std::uint64_t samples, stream_ref stream);
  void wait_for_room(const staging_slot& from, const device_slot& to, stream_ref first);

  device_ptr device_;
  slot_layout pieces_;
  slot_layout slots_;
  std::array<stream, 2> streams_;
  std::uint64_t carried_ = 0;                        ///< number of staging slots that alternated
  event_handle copied_before_ = event_handle::none;  ///< `copied` of the last one
};

}  // namespace feedline::detail
