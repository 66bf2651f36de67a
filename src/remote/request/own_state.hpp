#pragma once

#include "detail/own_process.hpp"

#include <atomic>

namespace feedline::detail {

/// Something that a lock guards, with the lock. A child of fork gets a new one: another thread of
/// its parent may have held the lock, and been about to change the rest, at the moment of the fork.
/// What the child had from its parent is leaked. Any thread.
template <class T>
class own_state {
 public:
  own_state() = default;
  own_state(const own_state&) = delete;
  own_state& operator=(const own_state&) = delete;
  ~own_state() {
    if (entry* const last = now_.load(); last != nullptr && last->process.is_this()) delete last;
  }

  /// This process's. @throws std::bad_alloc
  [[nodiscard]] T& get() {
    entry* seen = now_.load(std::memory_order_acquire);
    if (seen != nullptr && seen->process.is_this()) return seen->value;
    auto* const made = new entry;
    while (seen == nullptr || !seen->process.is_this())
      if (now_.compare_exchange_weak(seen, made)) return made->value;
    delete made;
    return seen->value;
  }

 private:
  struct entry {
    own_process process;
    T value{};
  };
  std::atomic<entry*> now_{nullptr};
};

}  // namespace feedline::detail
