#pragma once

#include <feedline/device/device.hpp>

#include "batch/device_slot.hpp"
#include "device/owned.hpp"
#include "staging/slot_layout.hpp"
#include "staging/staging_slot.hpp"

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
/// nothing.
///
/// What it issues begins to write the device slot behind `to.released` and has `to.ready` recorded
/// behind it; `from.copied` is recorded behind the last of it that reads the staging slot. If it
/// throws, these events stand behind all that was issued, and both slots can be used again; where
/// the device does not allow even that, both are marked `lost`. Threads: the transfer's.
class slot_transfer {
 public:
  slot_transfer() = default;
  slot_transfer(const slot_transfer&) = delete;
  slot_transfer& operator=(const slot_transfer&) = delete;
  virtual ~slot_transfer() = default;

  /// @param samples The slot's first ones; at least 1.
  /// @throws device_error; batch_failure where a user's function throws.
  virtual void carry(staging_slot& from, device_slot& to, std::uint64_t samples) = 0;

  /// Whether nothing that was issued uses memory of the slot transfer's any more; never blocks.
  /// @throws device_error
  [[nodiscard]] virtual bool is_idle() { return true; }
  /// Whether what was issued may use memory of the user's too, which may be freed once the loader
  /// has gone: then its end waits for all of it.
  [[nodiscard]] virtual bool uses_others_memory() const noexcept { return false; }
};

/// Carries slots that are a device slot's image: one copy, on a stream of its own.
class copy_transfer final : public slot_transfer {
 public:
  /// @throws device_error if there is no stream to be had.
  copy_transfer(device_ptr device, slot_layout layout)
      : device_{std::move(device)}, layout_{std::move(layout)}, stream_{device_} {}
  void carry(staging_slot& from, device_slot& to, std::uint64_t samples) override;

 private:
  device_ptr device_;
  slot_layout layout_;
  stream stream_;
};

}  // namespace feedline::detail
