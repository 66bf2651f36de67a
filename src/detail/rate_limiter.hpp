#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace feedline::detail {

/// For work to be done now and then by any thread that calls: no thread of its own, no lock. Any
/// thread.
class rate_limiter {
 public:
  /// @param every 0: at each call.
  explicit rate_limiter(std::chrono::nanoseconds every) noexcept : every_{every} {}

  /// True for one caller if the time has come; at first it has. Takes a few tens of nanoseconds.
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
