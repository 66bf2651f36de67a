#pragma once

#include <atomic>
#include <thread>

namespace feedline::detail {

/// Which thread takes batches, and whether any other has had to do with one. As long as none has, who
/// takes a batch and waits for another one to end may wait for itself.
class consumer_thread {
 public:
  /// The calling thread takes the next batch.
  void takes() noexcept {
    const auto self = std::this_thread::get_id();
    const auto before = taker_.exchange(self, std::memory_order_relaxed);
    if (before != self && before != std::thread::id{}) others_.store(true);
  }
  /// The calling thread moves a batch, looks at it or ends it.
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
