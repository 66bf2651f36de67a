#include "detail/notifier.hpp"
#include "rows/block_cache.hpp"

#include <functional>
#include <thread>

namespace feedline::detail {
namespace {

std::size_t preferred_read_guard(std::size_t read_guards) noexcept {
  thread_local const std::size_t number =
      std::hash<std::thread::id>{}(std::this_thread::get_id()) * 0x9e37'79b9'7f4a'7c15ULL >> 32;
  return number % read_guards;
}

}  // namespace

const std::byte* block_cache::read_guard::find(std::uint64_t block) noexcept {
  const std::uint32_t slot = cache_.blocks_[block].load();
  if (slot >= filling) return nullptr;
  if (cache_.counts_uses()) {
    counter& used = cache_.read_guards_[number_].used.load(std::memory_order_relaxed)[slot];
    used.store(used.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
  return cache_.memory_of(slot);
}

// The mark comes before every look at a block, in the single order of all sequentially consistent
// operations: either the thread that evicts a block sees the mark, or the read guard sees that the
// block is gone.
std::size_t block_cache::enter() {
  const std::size_t preferred = preferred_read_guard(max_read_guards);
  for (std::size_t step = 0;; ++step) {
    const std::size_t number = (preferred + step) % max_read_guards;
    read_guard_state& state = read_guards_[number];
    std::uint64_t turn = state.turn.load(std::memory_order_relaxed);
    if (turn % 2 != 0 || !state.turn.compare_exchange_strong(turn, turn + 1)) {
      if (step % max_read_guards == max_read_guards - 1) std::this_thread::yield();
      continue;
    }
    if (counts_uses() && state.used.load(std::memory_order_relaxed) == nullptr) {
      try {
        counters_[number] = std::make_unique<counter[]>(max_slots_);
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
  auto& turn = read_guards_[number].turn;
  turn.store(turn.load(std::memory_order_relaxed) + 1);
}

void block_cache::wait_for_read_guards() const noexcept {
  for (const read_guard_state& each : read_guards_) {
    const std::uint64_t turn = each.turn.load();
    if (turn % 2 == 0) continue;
    if (!spin_until([&] { return each.turn.load() != turn; }))
      while (each.turn.load() == turn) std::this_thread::yield();
  }
}

}  // namespace feedline::detail
