#pragma once

#include <atomic>
#include <thread>

namespace feedline::detail {

/// Tells whether more than one thread has used batches. If only one has, a thread that takes a
/// batch and waits for another batch to end may be waiting for itself.
class consumer_thread {
 public:
  /// The calling thread takes the next batch.
  void takes() noexcept {
    const auto self = std::this_thread::get_id();
    const auto before = taker_.exchange(self, std::memory_order_relaxed);
    if (before != self && before != std::thread::id{}) others_.store(true);
  }
  /// The calling thread moves, reads or ends a batch.
  void touches() noexcept {
    if (std::this_thread::get_id() == taker_.load(std::memory_order_relaxed)) return;
    if (!others_.load(std::memory_order_relaxed)) others_.store(true);
  }
  /// Whether batches were touched, or taken, by several threads.
  [[nodiscard]] bool others() const noexcept { return others_.load(); }

 private:
  std::atomic<std::thread::id> taker_{};
  std::atomic<bool> others_{false};
};

}  // namespace feedline::detail
