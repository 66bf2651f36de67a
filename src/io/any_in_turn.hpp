#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>

namespace feedline::detail {

/// Whether something holds for any of many things, where to ask all of them each time would take
/// too long: it asks a few of them each time, in turn. Any thread.
class any_in_turn {
 public:
  static constexpr std::size_t max_asked = 64;  ///< at a time

  /// @param is Takes a number less than `count`.
  /// @return True at once if one of those asked now answers true; false once all have answered
  ///         false in turn; else the previous answer.
  template <class Is>
  [[nodiscard]] bool operator()(std::size_t count, const Is& is) noexcept {
    const std::size_t asked = std::min(count, max_asked);
    const std::size_t first = next_.fetch_add(asked, std::memory_order_relaxed);
    for (std::size_t i = 0; i < asked; ++i) {
      if (!is((first + i) % count)) continue;
      noes_.store(0, std::memory_order_relaxed);
      answer_.store(true, std::memory_order_relaxed);
      return true;
    }
    if (noes_.fetch_add(asked, std::memory_order_relaxed) + asked >= count)
      answer_.store(false, std::memory_order_relaxed);
    return answer_.load(std::memory_order_relaxed);
  }

 private:
  std::atomic<std::size_t> next_{0};
  std::atomic<std::size_t> noes_{0};  ///< false answers since the last true one
  std::atomic<bool> answer_{false};
};

}  // namespace feedline::detail
