#include "transfer/slot_transfer.hpp"

#include "device/leak.hpp"

#include <utility>

namespace feedline::detail {

copy_transfer::copy_transfer(device_ptr device, slot_layout layout)
    : device_{std::move(device)}, layout_{std::move(layout)}, stream_{device_} {}

void copy_transfer::carry(staging_slot& from, device_slot& to, std::uint64_t samples) {
  const stream_ref stream = stream_.get();
  try {
    device_->wait(stream, to.released.get());
    device_->copy(to.data, from.data, layout_.used_bytes(samples), stream);
    device_->record(to.ready.get(), stream);
    device_->record(from.copied.get(), stream);
  } catch (...) {
    if (!try_record_behind(*device_, stream, {to.ready.get(), from.copied.get()}))
      from.lost = to.lost = true;
    throw;
  }
}

}  // namespace feedline::detail
