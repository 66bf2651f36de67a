#include "batch/device_ring.hpp"

#include "detail/threads.hpp"
#include "device/trace/device.hpp"

#include <algorithm>
#include <utility>

namespace feedline::detail {

device_ring::device_ring(device_ptr device, std::shared_ptr<staging_ring> staging,
                         std::shared_ptr<const batch_format> format,
                         std::shared_ptr<failure_table> failures, std::size_t slots,
                         growth_limits limits)
    : slot_ring{std::move(device), memory_kind::device, slots == 0 ? staging->size() : slots,
                slots == 0 ? 0 : format->layout.slot_bytes()},
      untraced_{untraced(this->device())},
      id_{this->device()->capabilities().id},
      staging_{std::move(staging)},
      format_{std::move(format)},
      failures_{std::move(failures)},
      in_place_{slots == 0},
      free_{size() + 1},  // and a further one
      ready_{size() + 1},
      limits_{limits},
      further_{limits.allowed
                   ? std::make_shared<further_memory>(
                         this->device(), in_place_ ? memory_kind::staging : memory_kind::device)
                   : nullptr} {
  if (!in_place_) exposed_.emplace(this->device());
  postponed_.reserve(size());
  if (further_) {
    expect_further();
    if (in_place_) staging_->expect_further(further_, format_->layout.batch_bytes());
  }
  for (slot_index slot{0}; slot.value < size(); ++slot.value) {
    if (in_place_) {
      (*this)[slot].data = (*staging_)[slot].data;
    } else {
      (*this)[slot].host.fit(format_->host.bytes(format_->layout.batches_per_slot()));
      free_.push(slot);
    }
  }
}

device_ring::~device_ring() {
  if (!wait_for_device() && further_) further_->leak(device_slot::ring_name);
}

std::optional<slot_index> device_ring::acquire(stage_clock* clock, std::uint64_t batches) {
  auto slot = free_.try_pop();
  if (!slot) {
    const in_activity waiting{clock, activity::stalled};
    slot = free_.pop();
  }
  if (free_.closed()) return std::nullopt;
  if (is_further(*slot))
    (*this)[*slot].data =
        further_->fit(slot->value - size(), batches * format_->layout.batch_bytes());
  return slot;
}

void device_ring::wait_until_released(slot_index slot, std::chrono::nanoseconds at_most,
                                      stage_clock* clock) {
  device_slot& next = (*this)[slot];
  const auto done = [&] { return device()->is_done(next.released.get()); };
  next.released_late = !done();
  if (!next.released_late) gave_up_ = false;
  if (!next.released_late || gave_up_ || at_most == at_most.zero()) return;
  const in_activity waiting{clock, activity::stalled};
  if (spin_until(done, pauses_between_polls)) return;
  const auto until = std::chrono::steady_clock::now() + at_most;
  poll_until([&] {
    gave_up_ = std::chrono::steady_clock::now() >= until;
    return gave_up_ || free_.closed() || done();
  });
}

void device_ring::deliver(slot_index slot, slot_content content,
                          std::chrono::steady_clock::time_point now) {
  (*this)[slot].content = std::move(content);
  (*this)[slot].delivered_at = now;
  if (in_place_ && is_further(slot)) (*this)[slot].data = (*staging_)[slot].data;
  move(slot, device_state::free, device_state::filled);
  ready_.push(slot);
}

bool device_ring::take(std::optional<slot_index>& slot, const take_limits& limits) {
  const auto taken = [&] {
    return (slot = ready_.try_pop()).has_value() || limits.stop.stop_requested();
  };
  if (limits.has_deadline()) return ready_.wait_until(taken, limits.deadline);
  ready_.wait_until(taken);
  return true;
}

void device_ring::discard(slot_index slot) {
  (*this)[slot].content.failure.reset();
  move(slot, device_state::filled, device_state::free);
  recycle(slot);
}

void device_ring::lease(slot_index slot, stream_ref stream) {
  device_slot& taken = (*this)[slot];
  if (exposed_) {
    exposed_->stream_waits(stream, taken.ready.get());
    device()->wait(stream, taken.ready.get());
    exposed_->stream_goes_on(stream);
  }
  taken.stream = stream;
  taken.leased_by = std::this_thread::get_id();
  taken.further.reset();
  taken.leases.hold();
  move(slot, device_state::filled, device_state::leased);
}

batch device_ring::lease_batch(slot_index slot, std::uint64_t place) {
  device_slot& leased = (*this)[slot];
  leased.leases.add();
  const slot_layout& layout = format_->layout;
  const std::uint64_t before = place * layout.batch_size();
  return {
      shared_from_this(),
      {.slot = slot,
       .data = leased.data + place * layout.batch_bytes(),
       .host = in_place_ || format_->host.empty() ? nullptr
                                                  : leased.host.data() + format_->host.bytes(place),
       .epoch = leased.content.pass->epoch,
       .index = leased.content.first_batch + place,
       .samples = std::min(layout.batch_size(), leased.content.samples - before)}};
}

bool device_ring::all_leased() const noexcept {
  if (free_.closed() || count_own(device_state::leased) != size()) return false;
  if (!last_added_) return true;
  const auto state = slots().data()[last_added_->value]->state.load();
  return state == device_state::leased || state == device_state::spare;
}

bool device_ring::wait_for_room(const take_limits& limits) {
  const auto room = [&] {
    return !all_leased() || ended_further_.load() != seen_ended_ || limits.stop.stop_requested();
  };
  return in_place_ ? staging_->wait_for_recycled(room, limits.deadline)
                   : free_.wait_until(room, limits.deadline);
}

std::string device_ring::held_batches() const {
  std::uint64_t held = 0;
  std::string where;
  const auto add = [&](std::uint64_t here, const std::string& slot) {
    if (here == 0) return;
    held += here;
    where += (where.empty() ? "" : ", ") + std::to_string(here) + " in " + slot;
  };
  for (std::size_t i = 0; i < size(); ++i)
    add(slots().data()[i]->leases.held(), "slot " + std::to_string(i));
  std::uint64_t in_further = 0;
  for (std::size_t i = size(); i < size() + further(); ++i)
    in_further += slots().data()[i]->leases.held();
  add(in_further, "further slots");
  return std::to_string(held) + (held == 1 ? " batch is" : " batches are") + " held (" + where +
         "), of " + std::to_string(size()) + (in_place_ ? " staging" : " device") + " slots";
}

bool device_ring::is_idle() {
  if (end_postponed() != 0) return false;
  return all_done();
}

void device_ring::recycle(slot_index slot) {
  in_place_ ? staging_->recycle(slot) : free_.push(slot);
}

}  // namespace feedline::detail
