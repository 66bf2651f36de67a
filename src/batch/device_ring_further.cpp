// Further slots, for a consumer that holds batches in all others.

#include <feedline/error.hpp>

#include "batch/device_ring.hpp"

#include <algorithm>
#include <mutex>
#include <utility>

namespace feedline::detail {

bool device_ring::grow(std::string& why_not) {
  why_not.clear();
  if (!limits_.allowed) return false;
  seen_ended_ = ended_further_.load();  // first: memory that is given back later ends a wait
  const std::size_t bytes = next_bytes();
  auto slot = spare_slot(bytes);
  if (!slot) {
    free_spare(true);
    slot = new_slot(bytes, why_not);
    if (!slot) return false;
  }
  move(*slot, device_state::spare, device_state::free);
  last_added_ = slot;
  added_.fetch_add(1);
  in_place_ ? staging_->admit(*slot) : free_.push(*slot);
  return true;
}

/// The next ticket is likely to have as many batches as the last one. If it has more, the slot gets
/// more memory when it is acquired or claimed.
std::size_t device_ring::next_bytes() {
  std::uint64_t batches = 1;
  if (last_added_) {
    batches = (*this)[*last_added_].content.batches;
  } else {
    for (slot_index slot{0}; slot.value < size(); ++slot.value)
      batches = std::max(batches, (*this)[slot].content.batches);
  }
  return std::max<std::uint64_t>(batches, 1) * format_->layout.batch_bytes();
}

std::optional<slot_index> device_ring::spare_slot(std::size_t room) {
  const std::scoped_lock lock{unfinished_mutex_};
  const auto found = std::ranges::find_if(
      spare_, [&](slot_index slot) { return further_->room(slot.value - size()) >= room; });
  if (found == spare_.end()) return std::nullopt;
  const slot_index slot = *found;
  spare_.erase(found);
  count_unfinished();
  return slot;
}

std::optional<slot_index> device_ring::new_slot(std::size_t bytes, std::string& why_not) {
  const auto [limit, whose] = growth_limit();
  const std::size_t used = further_->bytes().first;
  // A larger ticket than expected gets a full slot besides.
  const std::size_t full = format_->layout.slot_bytes();
  const std::size_t most = bytes == full ? bytes : bytes + full;
  why_not = "further slots have " + std::to_string(used) + " bytes of " +
            std::string{to_string(further_->kind())} + " memory, the next one may take " +
            std::to_string(most) + ", and ";
  if (used > limit || most > limit - used) {
    why_not += whose + " allows " + std::to_string(limit);
    return std::nullopt;
  }
  const auto slot = empty_slot();
  if (!slot) {
    why_not += "there are " + std::to_string(max_further) + " of them, the most";
    return std::nullopt;
  }
  try {
    (*this)[*slot].data = further_->fit(slot->value - size(), bytes);
    if (in_place_) (*staging_)[*slot].data = (*this)[*slot].data;
    return slot;
  } catch (const out_of_memory& refused) {
    put_empty(*slot);
    why_not += refused.what();
    return std::nullopt;
  } catch (...) {
    put_empty(*slot);
    throw;
  }
}

void device_ring::put_empty(slot_index slot) noexcept {
  const std::scoped_lock lock{unfinished_mutex_};
  empty_.push_back(slot);  // there is room
}

std::optional<slot_index> device_ring::empty_slot() {
  const std::scoped_lock lock{unfinished_mutex_};
  if (!empty_.empty()) {
    const slot_index slot = empty_.back();
    empty_.pop_back();
    return slot;
  }
  if (further() == max_further) return std::nullopt;
  spare_.reserve(further() + 1);  // a slot becomes spare in a destructor
  empty_.reserve(further() + 1);
  if (in_place_ && staging_->further() == further()) (void)staging_->add();
  const slot_index slot = add();
  (*this)[slot].state.store(device_state::spare);
  return slot;
}

std::pair<std::size_t, std::string> device_ring::growth_limit() const {
  std::size_t limit = limits_.max_bytes;
  std::string whose = "expert.max_held_bytes";
  if (limit == 0) {
    const auto free = device()->free_bytes(further_->kind());
    if (!free)
      return {0, "the device does not tell how much is free: set " + whose + ", which now"};
    limit = (*free + further_->bytes().first) / 4;
    whose += " (by default a quarter of what is free)";
  }
  if (limits_.left < limit) return {limits_.left, std::string{"the rest of "} + limits_.left_by};
  return {limit, std::move(whose)};
}

void device_ring::end_further(slot_index slot) {
  move(slot, device_state::leased, device_state::spare);
  if (in_place_) staging_->withdraw(slot);
  {
    const std::scoped_lock lock{unfinished_mutex_};
    spare_.push_back(slot);
    count_unfinished();
  }
  free_spare();
  ended_further_.fetch_add(1);
  in_place_ ? staging_->wake_all() : free_.wake_all();
}

void device_ring::free_spare(bool all) noexcept {
  while (const auto slot = take_done(all)) {
    further_->empty(slot->value - size());  // without the lock, because host memory may take long
    (*this)[*slot].host = {};
    put_empty(*slot);
  }
}

/// A spare slot whose work is done. While others are in use one stays, unless `all` are wanted:
/// a consumer that always keeps some batches uses its memory again.
std::optional<slot_index> device_ring::take_done(bool all) noexcept {
  const std::scoped_lock lock{unfinished_mutex_};
  const bool others = spare_.size() + empty_.size() != further();
  const std::size_t kept = others && !all ? 1 : 0;
  for (std::size_t i = spare_.size(); i > kept; --i) {
    const slot_index slot = spare_[i - 1];
    try {
      if (!in_place_ && !device()->is_done((*this)[slot].released.get())) continue;
    } catch (...) {
      continue;  // the ring's end finds out whether the memory may be freed
    }
    spare_.erase(spare_.begin() + static_cast<std::ptrdiff_t>(i - 1));
    count_unfinished();
    return slot;
  }
  return std::nullopt;
}

held_statistics device_ring::held_memory() const {
  if (!further_) return {};
  const auto [now, most] = further_->bytes();
  return {.slots = further_->slots(), .bytes = now, .max_bytes = most, .added = added_.load()};
}

}  // namespace feedline::detail
