#pragma once

#include <feedline/device/device.hpp>

#include "device/owned.hpp"
#include "staging/slot_layout.hpp"
#include "transfer/slot_transfer.hpp"

#include <cstdint>

namespace feedline::detail {

/// Carries slots that are a device slot's image: one copy, on a stream of its own.
class copy_transfer final : public slot_transfer {
 public:
  /// @throws device_error if there is no stream to be had.
  copy_transfer(device_ptr device, slot_layout layout);
  void carry(staging_slot& from, device_slot& to, std::uint64_t samples) override;

 private:
  device_ptr device_;
  slot_layout layout_;
  stream stream_;
};

}  // namespace feedline::detail
