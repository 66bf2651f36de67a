#pragma once

#include "io/far_reads.hpp"
#include "remote/request/counts.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>

namespace feedline::detail {

/// While it lives, the calling thread waits for other machines. A wait within a wait is one wait.
class network_wait {
 public:
  network_wait() noexcept { ++depth(); }
  network_wait(const network_wait&) = delete;
  network_wait& operator=(const network_wait&) = delete;
  ~network_wait() {
    if (--depth() != 0) return;
    const std::chrono::nanoseconds took = std::chrono::steady_clock::now() - begun_;
    add_network_wait(took);
    counters().waits.fetch_add(1, std::memory_order_relaxed);
    counters().wait_ns.fetch_add(static_cast<std::uint64_t>(took.count()),
                                 std::memory_order_relaxed);
  }

 private:
  static int& depth() noexcept {
    thread_local constinit int of_thread = 0;
    return of_thread;
  }

  const std::chrono::steady_clock::time_point begun_ = std::chrono::steady_clock::now();
};

}  // namespace feedline::detail
