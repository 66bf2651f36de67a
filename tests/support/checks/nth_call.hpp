#pragma once

#include <atomic>
#include <cstdint>

namespace feedline::test {

/// Counts calls of something, and says which one is to fail. Any thread.
class nth_call {
 public:
  /// The n-th call from now on is due, counted from 1, and as many after it as make up `times`.
  /// 0: none is.
  void arm(std::uint64_t nth, std::uint64_t times = 1) noexcept {
    first_.store(0);
    calls_.store(0);
    times_.store(times);
    first_.store(nth);
  }
  void disarm() noexcept { first_.store(0); }

  /// Counts a call. @return Whether it is due.
  [[nodiscard]] bool count() noexcept {
    const std::uint64_t first = first_.load();
    if (first == 0) return false;
    const std::uint64_t number = calls_.fetch_add(1) + 1;
    return number >= first && number - first < times_.load();
  }
  /// Calls since it was armed, while it is.
  [[nodiscard]] std::uint64_t calls() const noexcept { return calls_.load(); }

 private:
  std::atomic<std::uint64_t> first_{0};
  std::atomic<std::uint64_t> times_{1};
  std::atomic<std::uint64_t> calls_{0};
};

}  // namespace feedline::test
