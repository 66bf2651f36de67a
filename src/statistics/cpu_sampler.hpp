#pragma once

#include "statistics/stage_clock.hpp"
#include "statistics/thread_clock.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>

namespace feedline::detail {

/// How much of a reader's time is spent on a core, and how much in the queue for one; the rest it
/// waits for something else. Asking costs some system calls, so only one request in 10 ms is
/// measured, from its beginning to its end.
///
/// Threads: `look` by any, the rest by the reader.
class cpu_sampler {
 public:
  using time_point = std::chrono::steady_clock::time_point;
  static constexpr std::chrono::milliseconds interval{10};

  struct totals {
    std::chrono::nanoseconds wall{};
    std::chrono::nanoseconds cpu{};
    std::chrono::nanoseconds queued{};
    bool queue_known = false;
  };

  /// A thread begins to read. It has no request yet: nothing waits for it.
  void open() noexcept { clock_.open(); }
  /// A request begins. @param now About when.
  void begin(time_point now) noexcept {
    measures_ = now - last_ >= interval;
    if (!measures_) return;
    before_ = clock_.now();
    began_ = std::chrono::steady_clock::now();
  }
  /// It has ended.
  void end() noexcept {
    if (!measures_) return;
    last_ = std::chrono::steady_clock::now();
    const thread_times after = clock_.now();
    add(wall_, (last_ - began_).count());
    add(cpu_, (after.cpu - before_.cpu).count());
    if (!before_.queued || !after.queued) return;
    queue_known_.store(true, std::memory_order_relaxed);
    add(queued_, (*after.queued - *before_.queued).count());
  }
  [[nodiscard]] totals look() const noexcept {
    return {nanoseconds(wall_), nanoseconds(cpu_), nanoseconds(queued_),
            queue_known_.load(std::memory_order_relaxed)};
  }

 private:
  static void add(std::atomic<std::uint64_t>& to, std::int64_t more) noexcept {
    if (more > 0) detail::add(to, static_cast<std::uint64_t>(more));
  }
  static std::chrono::nanoseconds nanoseconds(const std::atomic<std::uint64_t>& counter) noexcept {
    return std::chrono::nanoseconds{counter.load(std::memory_order_relaxed)};
  }

  thread_clock clock_;
  bool measures_ = false;
  time_point last_{};
  time_point began_{};
  thread_times before_{};
  std::atomic<std::uint64_t> wall_{0};
  std::atomic<std::uint64_t> cpu_{0};
  std::atomic<std::uint64_t> queued_{0};
  std::atomic<bool> queue_known_{false};
};

}  // namespace feedline::detail
