#include "transfer/copier.hpp"

#include "transfer/record_behind.hpp"

#include <utility>

namespace feedline::detail {

copier::copier(device_ptr device, slot_layout layout)
    : device_{std::move(device)}, layout_{std::move(layout)}, stream_{device_} {}

void copier::carry(staging_slot& from, device_slot& to, std::uint64_t samples) {
  device_->wait(stream_.get(), to.released.get());
  device_->copy(to.data, from.data, layout_.used_bytes(samples), stream_.get());
  record_behind(*device_, stream_.get(), {to.ready.get(), from.copied.get()});
}

}  // namespace feedline::detail
