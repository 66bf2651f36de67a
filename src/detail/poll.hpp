#pragma once

#include <algorithm>
#include <chrono>
#include <thread>

namespace feedline::detail {

/// Returns once `ready()` is true. For what rings no bell: the thread sleeps between one asking and
/// the next, for an eighth of the time that it has waited so far, 20 µs to 1 ms.
template <class Ready>
void poll_until(Ready&& ready) {
  using namespace std::chrono_literals;
  const auto begun = std::chrono::steady_clock::now();
  while (!ready()) {
    const std::chrono::nanoseconds waited = std::chrono::steady_clock::now() - begun;
    std::this_thread::sleep_for(std::clamp<std::chrono::nanoseconds>(waited / 8, 20us, 1ms));
  }
}

}  // namespace feedline::detail
