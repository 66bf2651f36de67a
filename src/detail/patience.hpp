#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>

namespace feedline::detail {

/// How long a waiter spins before it sleeps: as long as that has paid lately.
///
/// The measure is the time from one ring to the next. Where it is longer than spinning covers, each
/// wait halves the next one's spinning, down to a few microseconds; a short time restores it at
/// once. So threads that hand each other work of some ten microseconds go on spinning, and those
/// whose work comes each millisecond sleep at once. Up to twice the spinning counts as short, for
/// half of a wait that was slept through is the waking. Many waiters take turns, and each may wait
/// for many rings: one wait's length says nothing of how soon the next ring comes. Any thread.
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
  /// @param rings That fell into it; one at least is counted.
  void learn(duration waited, std::uint32_t rings) noexcept {
    const int before = halved_.load(std::memory_order_relaxed);
    const bool is_short = waited <= 2 * most_ * std::max<std::uint32_t>(rings, 1);
    const int after = is_short ? 0 : std::min(before + 1, max_halved);
    if (after != before) halved_.store(after, std::memory_order_relaxed);
  }

 private:
  static constexpr int max_halved = 5;

  duration most_;
  std::atomic<int> halved_{0};  ///< times; what several waiters learn at once may be lost
};

}  // namespace feedline::detail
