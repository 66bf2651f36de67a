#include "dataset/block_cache.hpp"

#include "detail/arithmetic.hpp"
#include "detail/doorbell.hpp"

#include <algorithm>
#include <bit>
#include <functional>
#include <new>
#include <thread>
#include <utility>

namespace feedline::detail {
namespace {

constexpr std::size_t line_bytes = 64;

/// Memory comes in pieces of about this size, which is worth huge pages.
constexpr std::size_t slab_bytes = std::size_t{32} << 20;

/// So many blocks at most are taken out together, for each time costs a wait for all sections.
constexpr std::size_t most_taken_out = 64;

/// Threads that are filling a block may be as many beyond the blocks that are kept.
constexpr std::uint32_t most_fillers = 256;

std::size_t preferred_section(std::size_t sections) noexcept {
  thread_local const std::size_t number =
      std::hash<std::thread::id>{}(std::this_thread::get_id()) * 0x9e37'79b9'7f4a'7c15ULL >> 32;
  return number % sections;
}

}  // namespace

block_cache::block_cache(std::uint64_t blocks, std::size_t block_bytes,
                         std::uint64_t rows_per_block, std::uint64_t most_kept)
    : block_bytes_{block_bytes},
      slot_bytes_{divide_up(block_bytes, line_bytes) * line_bytes},
      rows_per_block_{rows_per_block},
      most_kept_{static_cast<std::uint32_t>(std::min(most_kept, blocks))},
      most_slots_{most_kept_ + most_fillers},
      slab_shift_{static_cast<std::uint32_t>(std::bit_width(std::clamp<std::size_t>(
                      slab_bytes / slot_bytes_, 1, std::bit_floor(most_slots_)))) -
                  1},
      blocks_(blocks),
      counters_(most_sections),
      slabs_((most_slots_ >> slab_shift_) + 1),
      slot_states_(counts_uses() ? most_slots_ : 0) {
  for (auto& block : blocks_) block.store(absent, std::memory_order_relaxed);
}

block_cache::~block_cache() = default;

block_cache::section::section(block_cache& cache) : cache_{cache}, number_{cache.enter()} {}

block_cache::section::~section() {
  cache_.leave(number_);
}

const std::byte* block_cache::section::find(std::uint64_t block) noexcept {
  const std::uint32_t slot = cache_.blocks_[block].load();
  if (slot >= filling) return nullptr;
  if (cache_.counts_uses()) {
    counter& used = cache_.sections_[number_].used.load(std::memory_order_relaxed)[slot];
    used.store(used.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
  return cache_.memory_of(slot);
}

// The mark comes before every look at a block, in the one order of all sequentially consistent
// operations: who takes a block out sees the mark, or the section sees that the block is gone.
std::size_t block_cache::enter() {
  const std::size_t preferred = preferred_section(most_sections);
  for (std::size_t step = 0;; ++step) {
    const std::size_t number = (preferred + step) % most_sections;
    section_state& state = sections_[number];
    std::uint64_t turn = state.turn.load(std::memory_order_relaxed);
    if (turn % 2 != 0 || !state.turn.compare_exchange_strong(turn, turn + 1)) {
      if (step % most_sections == most_sections - 1) std::this_thread::yield();
      continue;
    }
    if (counts_uses() && state.used.load(std::memory_order_relaxed) == nullptr) {
      try {
        counters_[number] = std::make_unique<counter[]>(most_slots_);
      } catch (...) {
        leave(number);
        throw;
      }
      state.used.store(counters_[number].get(), std::memory_order_release);
    }
    return number;
  }
}

void block_cache::leave(std::size_t number) noexcept {
  auto& turn = sections_[number].turn;
  turn.store(turn.load(std::memory_order_relaxed) + 1);
}

std::byte* block_cache::memory_of(std::uint32_t slot) const noexcept {
  const std::uint32_t in_slab = slot & ((1U << slab_shift_) - 1);
  return slabs_[slot >> slab_shift_].load(std::memory_order_acquire) + in_slab * slot_bytes_;
}

block_cache::fill::fill(fill&& other) noexcept
    : cache_{std::exchange(other.cache_, nullptr)}, block_{other.block_}, slot_{other.slot_} {}

std::span<std::byte> block_cache::fill::bytes() const noexcept {
  return {cache_->memory_of(slot_), cache_->block_bytes_};
}

void block_cache::fill::publish(std::uint64_t rows_used) noexcept {
  if (cache_->counts_uses()) {
    const std::scoped_lock lock{cache_->mutex_};
    cache_->enter_line(slot_, block_, rows_used);
  }
  auto& place = cache_->blocks_[block_];
  place.store(slot_);
  place.notify_all();
  cache_ = nullptr;
}

block_cache::fill::~fill() {
  if (cache_ == nullptr) return;
  {
    const std::scoped_lock lock{cache_->mutex_};
    cache_->free_.push_back(slot_);
  }
  auto& place = cache_->blocks_[block_];
  place.store(absent);
  place.notify_all();
}

std::optional<block_cache::fill> block_cache::try_fill(std::uint64_t block) {
  auto& place = blocks_[block];
  std::uint32_t seen = absent;
  if (place.load() != absent || !place.compare_exchange_strong(seen, filling)) return std::nullopt;
  try {
    return fill{*this, block, take_slot()};
  } catch (...) {
    place.store(absent);
    place.notify_all();
    throw;
  }
}

void block_cache::wait_while_filling(std::uint64_t block) const noexcept {
  const auto& place = blocks_[block];
  if (!spin_until([&] { return place.load() != filling; })) place.wait(filling);
}

std::size_t block_cache::memory_bytes() const {
  const std::scoped_lock lock{mutex_};
  std::size_t bytes = 0;
  for (const auto& slab : memory_) bytes += slab.bytes().size();
  return bytes;
}

std::uint32_t block_cache::take_slot() {
  const std::scoped_lock lock{mutex_};
  if (free_.empty() && counts_uses()) {
    const bool is_full = slots_ >= most_kept_;
    if (!take_out(most_taken_out, true) && is_full)
      take_out(std::clamp<std::size_t>(present_ / 16, 1, most_taken_out), false);
  }
  if (free_.empty()) return add_slot();
  const std::uint32_t slot = free_.back();
  free_.pop_back();
  return slot;
}

std::uint32_t block_cache::add_slot() {
  if (slots_ == most_slots_) throw std::bad_alloc{};  // more threads than anybody has
  const std::uint32_t slots_per_slab = 1U << slab_shift_;
  if (slots_ % slots_per_slab == 0) {
    const std::uint32_t slots = std::min(slots_per_slab, most_slots_ - slots_);
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
  for (const section_state& each : sections_)
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
    // Its filler has put it in line, but may not have published it yet.
    std::uint32_t expected = slot;
    if (!blocks_[slot_states_[slot].block].compare_exchange_strong(expected, absent)) break;
    free_.push_back(slot);
    oldest_ = slot_states_[slot].next;
    --present_;
    --count;
  }
  if (free_.size() == before) return false;
  wait_for_sections();
  for (std::size_t i = before; i < free_.size(); ++i) {
    for (section_state& each : sections_)
      if (counter* counters = each.used.load(std::memory_order_acquire))
        counters[free_[i]].store(0, std::memory_order_relaxed);
  }
  return true;
}

void block_cache::wait_for_sections() const noexcept {
  for (const section_state& each : sections_) {
    const std::uint64_t turn = each.turn.load();
    if (turn % 2 == 0) continue;
    if (!spin_until([&] { return each.turn.load() != turn; }))
      while (each.turn.load() == turn) std::this_thread::yield();
  }
}

}  // namespace feedline::detail
