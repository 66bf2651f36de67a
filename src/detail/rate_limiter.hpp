#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace feedline::detail {

/// For what is to be done now and then, by whoever comes by: no thread, no lock. Any thread.
class rate_limiter {
 public:
  /// @param every 0: whenever somebody asks.
  explicit rate_limiter(std::chrono::nanoseconds every) noexcept : every_{every} {}

  /// Whether it is time, for one of those who ask; at first it is. A few tens of nanoseconds.
  [[nodiscard]] bool is_due() noexcept {
    const std::int64_t now =
        std::chrono::nanoseconds{std::chrono::steady_clock::now().time_since_epoch()}.count();
    std::int64_t due = due_.load(std::memory_order_relaxed);
    return now >= due &&
           due_.compare_exchange_strong(due, now + every_.count(), std::memory_order_relaxed);
  }

 private:
  const std::chrono::nanoseconds every_;
  std::atomic<std::int64_t> due_{0};
};

}  // namespace feedline::detail
