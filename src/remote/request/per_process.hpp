#pragma once

#include "detail/own_process.hpp"
#include "remote/request/own_state.hpp"

#include <atomic>
#include <cstddef>
#include <mutex>
#include <new>

namespace feedline::detail {

/// The one T of this process, made when it is first asked for. A child of fork gets its own:
/// locks of its parent's may be held. Never destroyed, because a thread that outlasts the process's
/// end may still ask for it. Any thread.
template <class T>
class per_process {
 public:
  /// @param make Makes it, by `new`.
  template <class Make>
  [[nodiscard]] static T& get(Make make) {
    state& its = all();
    if (entry* const now = its.now.load(std::memory_order_acquire);
        now != nullptr && now->process.is_this())
      return *now->made;
    const std::lock_guard lock{its.mutex.get()};
    entry* now = its.now.load(std::memory_order_acquire);
    if (now == nullptr || !now->process.is_this()) {
      now = new entry{{}, make()};
      its.now.store(now, std::memory_order_release);
    }
    return *now->made;
  }

  /// Null if it was not asked for yet.
  [[nodiscard]] static T* find() noexcept {
    const entry* const now = all().now.load(std::memory_order_acquire);
    return now != nullptr && now->process.is_this() ? now->made : nullptr;
  }

 private:
  struct entry {
    own_process process;
    T* made;
  };
  struct state {
    std::atomic<entry*> now{nullptr};
    own_state<std::mutex> mutex;
  };

  static state& all() {
    alignas(state) static std::byte room[sizeof(state)];  // NOLINT(modernize-avoid-c-arrays)
    static auto* const it = new (room) state;
    return *it;
  }
};

}  // namespace feedline::detail
