#pragma once

#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>

namespace feedline::python {

/// The right of one thread at a time. A thread that ends its turn and wants another one at once
/// comes after those that wait, so that no thread waits forever.
class turn_line {
 public:
  /// Takes the turn if it is free, and no thread waits for it.
  [[nodiscard]] bool try_take();
  /// Whether the turn came within this time.
  [[nodiscard]] bool take_within(std::chrono::milliseconds time);
  /// Ends this thread's turn.
  void end() noexcept;

  /// Whether the turn is this thread's.
  [[nodiscard]] bool is_mine() const noexcept {
    return owner_.load() == std::this_thread::get_id();
  }

 private:
  std::atomic<int> waiting_{0};
  std::timed_mutex next_;  ///< held by the thread that gets the next turn
  std::timed_mutex turn_;
  std::atomic<std::thread::id> owner_{};
};

}  // namespace feedline::python
