#include "batch/device_ring.hpp"

#include "detail/threads.hpp"
#include "device/leak.hpp"
#include "device/traced_device.hpp"

#include <algorithm>
#include <exception>
#include <stdexcept>
#include <utility>

namespace feedline::detail {

device_ring::device_ring(device_ptr device, std::shared_ptr<staging_ring> staging,
                         std::shared_ptr<const batch_format> format,
                         std::shared_ptr<failure_board> failures, std::size_t slots)
    : device_{std::move(device)},
      untraced_{untraced(device_)},
      id_{device_->capabilities().id},
      staging_{std::move(staging)},
      format_{std::move(format)},
      failures_{std::move(failures)},
      in_place_{slots == 0},
      free_{in_place_ ? staging_->size() : slots},
      ready_{in_place_ ? staging_->size() : slots} {
  const std::size_t slot_bytes = format_->layout.slot_bytes();
  if (!in_place_) exposed_.emplace(device_);
  if (!in_place_) memory_ = device_memory{device_, memory_kind::device, slots * slot_bytes};
  const std::size_t count = in_place_ ? staging_->size() : slots;
  postponed_.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    slots_.push_back(std::make_unique<device_slot>(device_));
    if (in_place_) {
      slots_.back()->data = (*staging_)[slot_index{i}].data;
    } else {
      slots_.back()->data = memory_.data() + i * slot_bytes;
      free_.push(slot_index{i});
    }
  }
}

device_ring::~device_ring() {
  constexpr const char* whose = "a device ring";
  bool done = true;
  for (const auto& slot : slots_) {
    for (const event_handle last : {slot->ready.get(), slot->released.get()})
      done = sync_before_freeing(*device_, last, whose) && done;
    done = done && !slot->lost;
  }
  if (!done) leak(memory_, whose);
}

std::optional<slot_index> device_ring::acquire(stage_clock* clock) {
  auto slot = free_.try_pop();
  if (!slot) {
    const in_activity waiting{clock, activity::stalled};
    slot = free_.pop();
  }
  if (free_.closed()) return std::nullopt;
  return slot;
}

void device_ring::wait_until_released(slot_index slot, std::chrono::nanoseconds at_most,
                                      stage_clock* clock) {
  device_slot& next = (*this)[slot];
  const auto done = [&] { return device_->is_done(next.released.get()); };
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
    device_->wait(stream, taken.ready.get());
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
  return batch{shared_from_this(),
               slot,
               leased.data + place * layout.batch_bytes(),
               leased.content.run->epoch,
               leased.content.first_batch + place,
               std::min(layout.batch_size(), leased.content.samples - before)};
}

std::size_t device_ring::ready_slots() const noexcept {
  return static_cast<std::size_t>(std::count_if(slots_.begin(), slots_.end(), [](const auto& slot) {
    return slot->state.load(std::memory_order_relaxed) == device_state::filled;
  }));
}

std::size_t device_ring::leased_slots() const noexcept {
  return static_cast<std::size_t>(std::count_if(slots_.begin(), slots_.end(), [](const auto& slot) {
    return slot->state.load() == device_state::leased;
  }));
}

bool device_ring::all_leased() const noexcept {
  return !free_.closed() && leased_slots() == slots_.size();
}

bool device_ring::wait_for_room(const take_limits& limits) {
  const auto room = [&] { return !all_leased() || limits.stop.stop_requested(); };
  return in_place_ ? staging_->wait_for_recycled(room, limits.deadline)
                   : free_.wait_until(room, limits.deadline);
}

std::string device_ring::held_batches() const {
  std::uint64_t held = 0;
  std::string where;
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    const std::uint64_t here = slots_[i]->leases.held();
    if (here == 0) continue;
    held += here;
    where += (where.empty() ? "" : ", ") + std::to_string(here) + " in slot " + std::to_string(i);
  }
  return std::to_string(held) + (held == 1 ? " batch is" : " batches are") + " held (" + where +
         "), of " + std::to_string(slots_.size()) + (in_place_ ? " staging" : " device") + " slots";
}

bool device_ring::is_idle() {
  if (end_postponed() != 0) return false;
  return std::all_of(slots_.begin(), slots_.end(), [&](const auto& slot) {
    return device_->is_done(slot->ready.get()) && device_->is_done(slot->released.get());
  });
}

void device_ring::recycle(slot_index slot) {
  in_place_ ? staging_->recycle(slot) : free_.push(slot);
}

void device_ring::move(slot_index slot, device_state from, device_state to) {
  if (!(*this)[slot].state.compare_exchange_strong(from, to)) {
    throw std::logic_error{
        "feedline: a device slot made a transition that its table does not know"};
  }
}

}  // namespace feedline::detail
