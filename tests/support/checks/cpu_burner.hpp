#pragma once

#include <chrono>

#include <time.h>

namespace feedline::test {

/// Computes until the calling thread has had so much time on a core: on a busy machine it takes
/// longer by the clock on the wall.
inline void burn_cpu(std::chrono::nanoseconds time) {
  const auto used = [] {
    timespec cpu{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &cpu);
    return std::chrono::seconds{cpu.tv_sec} + std::chrono::nanoseconds{cpu.tv_nsec};
  };
  const auto until = used() + time;
  while (used() < until) {
  }
}

}  // namespace feedline::test
