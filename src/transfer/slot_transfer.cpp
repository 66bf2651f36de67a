#include "transfer/slot_transfer.hpp"

#include "device/leak.hpp"

#include <algorithm>

namespace feedline::detail {

void copy_transfer::carry(staging_slot& from, device_slot& to, std::uint64_t samples) {
  const bool follows = from.work.begin != 0;
  const bool by_turns = takes_turns(to);
  const stream_ref stream = streams_[by_turns ? carried_++ % streams_.size() : 0].get();
  try {
    if (!follows) wait_for_room(from, to, stream);
    if (samples != 0 && !holds_parts() && !from.work.sizes) {
      copies_.copy(to.data, from.data, slots_.used_bytes(samples), stream);
    } else {
      for (std::uint64_t done = 0; done < samples; done += pieces_.batch_size())
        copy_fields(from, to, done, std::min(pieces_.batch_size(), samples - done), stream);
    }
    device_->record(from.copied.get(), stream);
    if (follows && by_turns) device_->wait(stream, copied_before_);
    device_->record(to.ready.get(), stream);
  } catch (...) {
    // Issued work may use both slots, and so may that of earlier pieces.
    const bool copied = try_record_behind(*device_, stream, {from.copied.get()});
    const bool joined = !follows || !by_turns || try_wait(*device_, stream, copied_before_);
    if (!try_record_behind(*device_, stream, {to.ready.get()}) || !copied || !joined)
      from.lost = to.lost = true;
    throw;
  }
  copied_before_ = from.copied.get();
}

void copy_transfer::copy_fields(const staging_slot& from, const device_slot& to, std::uint64_t done,
                                std::uint64_t samples, stream_ref stream) {
  const std::size_t batch = (from.work.begin + done) / slots_.batch_size() * slots_.batch_bytes();
  const std::size_t piece = done / pieces_.batch_size() * pieces_.batch_bytes();
  const std::uint64_t before = (from.work.begin + done) % slots_.batch_size();
  for (std::size_t place = 0; place < slots_.fields().size(); ++place) {
    if (slots_.leaves_out(place)) continue;
    const std::size_t row_bytes = slots_.row_bytes(place, from.work.size_at(done));
    copies_.copy(to.data + batch + slots_.field_offset(place) + before * row_bytes,
                 from.data + piece + pieces_.field_offset(place), samples * row_bytes, stream);
  }
}

void copy_transfer::wait_for_room(const staging_slot& from, const device_slot& to,
                                  stream_ref first) {
  for (const auto& each : streams_) {
    if ((from.work.ends_ticket || !takes_turns(to)) && each.get() != first) continue;  // no part
    device_->wait(each.get(), to.released.get());
    device_->wait(each.get(), to.ready.get());
  }
}

}  // namespace feedline::detail
