#include "transfer/slot_transfer.hpp"

#include "device/leak.hpp"

namespace feedline::detail {

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
