#include "rows/block_cache.hpp"

#include "detail/arithmetic.hpp"
#include "detail/notifier.hpp"

#include <algorithm>
#include <bit>

namespace feedline::detail {
namespace {

constexpr std::size_t line_bytes = 64;

/// Memory comes in pieces of about this size, which is worth huge pages.
constexpr std::size_t slab_bytes = std::size_t{32} << 20;

/// This many blocks at most are taken out together, because each time costs a wait for all read
/// guards.
constexpr std::size_t max_taken_out = 64;

}  // namespace

class block_cache::locked {
 public:
  explicit locked(const block_cache& cache) : cache_{cache}, lock_{cache.mutex_} {}
  locked(const locked&) = delete;
  locked& operator=(const locked&) = delete;
  ~locked() {
    lock_.unlock();
    if (cache_.unlocked_) cache_.unlocked_();
  }

  void wait(std::condition_variable& changed) { changed.wait(lock_); }

 private:
  const block_cache& cache_;
  std::unique_lock<std::mutex> lock_;
};

std::uint64_t block_cache::max_blocks_within(std::size_t bytes, std::uint64_t blocks,
                                             std::size_t block_bytes) noexcept {
  if (block_bytes >= bytes) return 0;
  const std::size_t slot_bytes = round_up(block_bytes, line_bytes);
  const std::size_t list_bytes =
      checked_multiply<std::size_t>(blocks, sizeof(std::uint32_t)).value_or(bytes);
  const std::size_t left = bytes - std::min(bytes, list_bytes);
  if (blocks <= left / slot_bytes) return blocks;
  const std::size_t counter_bytes =
      slot_bytes < least_counted_bytes ? 0 : max_read_guards * sizeof(counter);
  constexpr std::size_t bytes_in_lists = sizeof(slot_state) + sizeof(std::uint32_t);
  return left / (slot_bytes + counter_bytes + bytes_in_lists);
}

block_cache::block_cache(std::uint64_t blocks, std::size_t block_bytes,
                         std::uint64_t rows_per_block, std::uint64_t max_cached,
                         std::function<void()> unlocked)
    : block_bytes_{block_bytes},
      slot_bytes_{round_up(block_bytes, line_bytes)},
      rows_per_block_{rows_per_block},
      max_slots_{static_cast<std::uint32_t>(std::min(max_cached, blocks))},
      slab_shift_{static_cast<std::uint32_t>(std::bit_width(std::clamp<std::size_t>(
                      slab_bytes / slot_bytes_, 1, std::bit_floor(max_slots_)))) -
                  1},
      blocks_(blocks),
      counters_(max_read_guards),
      slabs_((max_slots_ >> slab_shift_) + 1),
      unlocked_{std::move(unlocked)},
      slot_states_(blocks_give_way() ? max_slots_ : 0) {
  for (auto& block : blocks_) block.store(absent, std::memory_order_relaxed);
}

std::byte* block_cache::memory_of(std::uint32_t slot) const noexcept {
  const std::uint32_t in_slab = slot & ((1U << slab_shift_) - 1);
  return slabs_[slot >> slab_shift_].load(std::memory_order_acquire) + in_slab * slot_bytes_;
}

// The block is published before the lock is released: a thread that finds a slot in line may evict
// its block.
void block_cache::fill::publish(std::uint64_t rows_used) noexcept {
  auto& place = cache_->blocks_[block_];
  if (cache_->blocks_give_way()) {
    const locked lock{*cache_};
    cache_->enter_line(slot_, block_, rows_used);
    place.store(slot_);
    cache_->room_.notify_one();
  } else {
    place.store(slot_);
  }
  place.notify_all();
  cache_ = nullptr;
}

block_cache::fill::~fill() {
  if (cache_ == nullptr) return;
  {
    const locked lock{*cache_};
    cache_->free_.push_back(slot_);
    cache_->room_.notify_one();
  }
  auto& place = cache_->blocks_[block_];
  place.store(absent);
  place.notify_all();
}

std::optional<block_cache::fill> block_cache::claim(std::uint64_t block, bool may_wait) {
  auto& place = blocks_[block];
  std::uint32_t seen = absent;
  if (place.load() != absent || !place.compare_exchange_strong(seen, filling)) return std::nullopt;
  const auto give_up = [&] {
    place.store(absent);
    place.notify_all();
  };
  try {
    const std::uint32_t slot = take_slot(may_wait);
    if (slot != none) return fill{*this, block, slot};
  } catch (...) {
    give_up();
    throw;
  }
  give_up();
  return std::nullopt;
}

void block_cache::wait_while_filling(std::uint64_t block) const noexcept {
  const auto& place = blocks_[block];
  if (!spin_until([&] { return place.load() != filling; })) place.wait(filling);
}

std::size_t block_cache::memory_bytes() const {
  const std::scoped_lock lock{mutex_};
  std::size_t bytes =
      slot_states_.size() * sizeof(slot_state) + free_.capacity() * sizeof(std::uint32_t);
  for (const auto& slab : memory_) bytes += slab.bytes().size();
  for (const read_guard_state& each : read_guards_)
    if (each.used.load(std::memory_order_relaxed) != nullptr) bytes += max_slots_ * sizeof(counter);
  return bytes;
}

/// A slot that no other thread has; none if all are being filled, and the caller may not wait.
std::uint32_t block_cache::take_slot(bool may_wait) {
  locked lock{*this};
  for (;;) {
    if (free_.empty() && blocks_give_way()) make_room();
    if (!free_.empty()) {
      const std::uint32_t slot = free_.back();
      free_.pop_back();
      return slot;
    }
    if (slots_ < max_slots_) return add_slot();
    if (!may_wait) return none;
    lock.wait(room_);
  }
}

void block_cache::make_room() {
  const bool is_full = slots_ == max_slots_;
  const bool some_were_used_up = counts_uses() && take_out(max_taken_out, true);
  if (!some_were_used_up && is_full)
    take_out(std::clamp<std::size_t>(present_ / 16, 1, max_taken_out), false);
}

std::uint32_t block_cache::add_slot() {
  const std::uint32_t slots_per_slab = 1U << slab_shift_;
  if (slots_ % slots_per_slab == 0) {
    const std::uint32_t slots = std::min(slots_per_slab, max_slots_ - slots_);
    memory_.emplace_back(slots * slot_bytes_);
    try {
      free_.reserve(slots_ + slots);  // a fill that fails gives back without fail
    } catch (...) {
      memory_.pop_back();
      throw;
    }
    slabs_[slots_ >> slab_shift_].store(memory_.back().bytes().data(), std::memory_order_release);
  }
  return slots_++;
}

bool block_cache::is_used_up(std::uint32_t slot) const noexcept {
  std::uint64_t used = slot_states_[slot].filler_used;
  for (const read_guard_state& each : read_guards_)
    if (const counter* counters = each.used.load(std::memory_order_acquire))
      used += counters[slot].load(std::memory_order_relaxed);
  return used >= rows_per_block_;
}

/// Puts a slot at the end of the line of those with a block. With the lock; allocates nothing.
void block_cache::enter_line(std::uint32_t slot, std::uint64_t block,
                             std::uint64_t rows_used) noexcept {
  slot_states_[slot] = {.block = static_cast<std::uint32_t>(block),
                        .filler_used = static_cast<std::uint32_t>(rows_used),
                        .next = none};
  (oldest_ == none ? oldest_ : slot_states_[newest_].next) = slot;
  newest_ = slot;
  ++present_;
}

/// Makes the memory of up to `count` of the oldest blocks free. False if there were none.
bool block_cache::take_out(std::size_t count, bool used_up_only) {
  const std::size_t before = free_.size();
  while (count > 0 && oldest_ != none) {
    const std::uint32_t slot = oldest_;
    if (used_up_only && !is_used_up(slot)) break;
    blocks_[slot_states_[slot].block].store(absent);
    free_.push_back(slot);
    oldest_ = slot_states_[slot].next;
    --present_;
    --count;
  }
  if (free_.size() == before) return false;
  wait_for_read_guards();
  for (std::size_t i = before; i < free_.size(); ++i) {
    for (read_guard_state& each : read_guards_)
      if (counter* counters = each.used.load(std::memory_order_acquire))
        counters[free_[i]].store(0, std::memory_order_relaxed);
  }
  return true;
}

}  // namespace feedline::detail
