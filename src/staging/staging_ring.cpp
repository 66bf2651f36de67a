#include "staging/staging_ring.hpp"

#include "detail/threads.hpp"

#include <array>
#include <utility>

namespace feedline::detail {

staging_ring::staging_ring(device_ptr device, std::size_t slots, std::size_t slot_bytes)
    : slot_ring{std::move(device), memory_kind::staging, slots, slot_bytes},
      recycled_{slots + 1},  // and a further one
      circulating_{slots},
      opened_{slots + 1} {
  withheld_.reserve(slots);
  line_.reserve(slots);
  for (std::size_t i = 0; i < slots; ++i) recycled_.push(slot_index{i});
}

std::optional<slot_index> staging_ring::claim(stage_clock* clock) {
  auto slot = try_claim();
  if (!slot) {
    const in_activity waiting{clock, activity::stalled};
    recycled_.wait_until([&] { return (slot = try_claim()).has_value(); });
  }
  if (!slot || recycled_.closed()) return std::nullopt;
  staging_slot& claimed = (*this)[*slot];
  if (claimed.state.load() == staging_state::copying) {
    const event_handle copied = claimed.copied.get();
    const auto done = [&] { return device()->is_done(copied); };
    const bool was_done = done();
    const in_activity waiting{was_done ? nullptr : clock, activity::copy_wait};
    if (!was_done && !spin_until(done, pauses_between_polls)) {
      // The copy may be queued after the consumer's work, and that may wait for the thread that
      // closes the ring. So no thread blocks on the device here.
      bool is_done = false;
      poll_until([&] { return (is_done = done()) || recycled_.closed(); });
      if (!is_done) return std::nullopt;
    }
    move(*slot, staging_state::copying, staging_state::free);
  }
  return slot;
}

std::optional<slot_index> staging_ring::try_claim() {
  const std::size_t most = circulating_.load();
  if (!withheld_.empty() && size() - withheld_.size() < most) {
    const slot_index slot = withheld_.back();
    withheld_.pop_back();
    return slot;
  }
  while (const auto slot = recycled_.try_pop()) {
    if (size() - withheld_.size() <= most || slot->value >= size()) return slot;
    withheld_.push_back(*slot);
  }
  return std::nullopt;
}

void staging_ring::open(slot_index slot, slot_work work) {
  staging_slot& opened = (*this)[slot];
  opened.requests_left.store(work.requests());
  opened.chunk_bytes.store(0);
  opened.unreadable.clear();
  opened.opened_at = std::chrono::steady_clock::now();
  opened.work = std::move(work);
  move(slot, staging_state::free, staging_state::filling);
  opened_.push(slot);
}

bool staging_ring::finish_request(slot_index slot, stage_clock* clock) {
  staging_slot& finished = (*this)[slot];
  if (finished.requests_left.fetch_sub(1) != 1) return false;
  if (clock != nullptr) {  // before others see the slot, and with it the counters
    finished.filled_at = clock->since();
    if (finished.work.ends_ticket) clock->count_batches(finished.work.batches);
    clock->count_slot(finished.opened_at, finished.filled_at);
  }
  move(slot, staging_state::filling, staging_state::filled);
  filled_.notify_all();
  return true;
}

std::optional<slot_index> staging_ring::next_filled(stage_clock* clock) {
  if (const auto slot = try_next_filled()) return slot;
  const in_activity waiting{clock, activity::starved};
  if (line_.empty()) {
    const auto slot = opened_.pop();
    if (!slot) return std::nullopt;
    line_.push_back(*slot);
  }
  std::optional<slot_index> next;
  filled_.wait_until([&] { return (next = try_next_filled()) || recycled_.closed(); });
  return next;
}

std::optional<slot_index> staging_ring::try_next_filled() {
  while (const auto slot = opened_.try_pop()) line_.push_back(*slot);
  for (auto at = line_.begin(); at != line_.end(); ++at) {
    const slot_index slot = *at;
    const slot_work& work = (*this)[slot].work;
    if (at == line_.begin() || work.may_pass((*this)[line_.front()].work)) {
      if ((*this)[slot].state.load() == staging_state::filled) {
        line_.erase(at);
        return slot;
      }
    }
    if (!work.is_ahead()) break;  // no slot may pass one with samples
  }
  return std::nullopt;
}

void staging_ring::recycle(slot_index slot) {
  staging_slot& recycled = (*this)[slot];
  const auto state = recycled.state.load();
  move(slot, state == staging_state::leased ? staging_state::leased : staging_state::filled,
       staging_state::free);
  recycled_.push(slot);
}

std::string staging_ring::states() const {
  constexpr std::array names{"free", "filling", "filled", "copying", "leased"};
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::size_t slots = count(static_cast<staging_state>(i));
    if (slots != 0) text += (text.empty() ? "" : ", ") + std::to_string(slots) + ' ' + names.at(i);
  }
  return text;
}

}  // namespace feedline::detail
