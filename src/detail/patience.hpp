#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>

namespace feedline::detail {

/// How long who waits at a place spins before sleeping: as long as that has paid lately.
///
/// A wait that took longer than spinning would have halves the next one's spinning, down to a few
/// microseconds; a short wait restores it at once. So threads that hand each other work of some ten
/// microseconds go on spinning, and those whose work comes each millisecond sleep at once. A wait
/// that was slept through counts as short up to twice the time: half of it is the waking. Any thread.
class patience {
 public:
  using duration = std::chrono::nanoseconds;

  /// @param most Time that a waiter spins at most.
  explicit patience(duration most) noexcept : most_{most} {}

  /// For the next wait.
  [[nodiscard]] duration spin() const noexcept {
    return most_ / (1 << halved_.load(std::memory_order_relaxed));
  }
  /// Learns how long a wait took.
  void learn(duration waited) noexcept {
    const int before = halved_.load(std::memory_order_relaxed);
    const int after = waited <= 2 * most_ ? 0 : std::min(before + 1, most_halved);
    if (after != before) halved_.store(after, std::memory_order_relaxed);
  }

 private:
  static constexpr int most_halved = 5;

  duration most_;
  std::atomic<int> halved_{0};  ///< times; what several waiters learn at once may be lost
};

}  // namespace feedline::detail
