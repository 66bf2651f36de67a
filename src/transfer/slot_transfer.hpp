#pragma once

#include <feedline/device/device.hpp>

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

/// What a slot transfer throws that brings a slot's first batches, but not the next one.
struct batch_failure {
  std::uint64_t good_batches;
  std::exception_ptr cause;
};

/// Issues all that brings a filled staging slot's samples into a device slot, and waits for
/// nothing. A device slot whose ticket came in pieces is brought one after the other, in order.
///
/// What it issues begins to write the device slot behind `to.released` and has `to.ready` recorded
/// behind it and the pieces before; `from.copied` is recorded behind the last of it that reads the
/// staging slot. If it throws, these events stand behind all that was issued, and both slots can be
/// used again; where the device does not allow even that, both are marked `lost`. Threads: the
/// transfer's.
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
  /// The same for a staging slot that holds blocks alone, for the device to decode. These come
  /// ahead of their samples, and no device slot has a part in it. @throws device_error
  virtual void carry_blocks(staging_slot& /*from*/) {}

  /// Its copies so far.
  [[nodiscard]] const copy_meter& copies() const noexcept { return copies_; }

  /// Whether nothing that was issued uses memory of the slot transfer's any more; never blocks.
  /// @throws device_error
  [[nodiscard]] virtual bool is_idle() { return true; }
  /// Whether what was issued may use memory of the user's too, which may be freed once the loader
  /// has gone: then its end waits for all of it.
  [[nodiscard]] virtual bool uses_others_memory() const noexcept { return false; }

 protected:
  copy_meter copies_;  ///< issues all of them
};

/// Carries slots that are a device slot's image by one copy, and parts of a batch by a copy for
/// each field.
///
/// Parts of batches take turns on two streams, so that copies of a few bytes on one of them hide
/// behind the other's large one. They keep to one where the consumer was late to release the slot:
/// each stream with work costs its kernels some time, and nobody waits for these copies. Whole
/// batches keep to one stream: two large copies at once would end at once, and their staging slots
/// would be filled at once. On a piece's stream:
///
///     wait for the device slot's `released` and `ready`, once for all pieces of it: nobody took a
///     slot of an epoch that was left, so what was put there may be on its way still,
///     copy, record the staging slot's `copied`,
///     wait for `copied` of the piece before, if it is the same batch's on the other stream,
///     record `ready`
class copy_transfer final : public slot_transfer {
 public:
  /// @param pieces Where things lie in a staging slot. @param slots In a device slot.
  /// @throws device_error if there is no stream to be had.
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
  void wait_for_room(const staging_slot& from, const device_slot& to, stream_ref first);
  void copy(const staging_slot& from, const device_slot& to, std::uint64_t samples,
            stream_ref stream);

  device_ptr device_;
  slot_layout pieces_;
  slot_layout slots_;
  std::array<stream, 2> streams_;
  std::uint64_t carried_ = 0;                        ///< staging slots that took turns
  event_handle copied_before_ = event_handle::none;  ///< `copied` of the last one
};

}  // namespace feedline::detail
