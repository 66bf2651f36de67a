#pragma once

#include <chrono>

namespace feedline::detail {

/// A time in nanoseconds, or the longest there is, or the shortest: some 292 years. Users may say
/// any: `milliseconds::max()` for "without end".
[[nodiscard]] constexpr std::chrono::nanoseconds saturated(
    std::chrono::milliseconds time) noexcept {
  using std::chrono::duration_cast;
  using std::chrono::milliseconds;
  using std::chrono::nanoseconds;
  if (time > duration_cast<milliseconds>(nanoseconds::max())) return nanoseconds::max();
  if (time < duration_cast<milliseconds>(nanoseconds::min())) return nanoseconds::min();
  return time;
}

/// When a time from now is over; the largest: never.
[[nodiscard]] inline std::chrono::steady_clock::time_point deadline_after(
    std::chrono::milliseconds time,
    std::chrono::steady_clock::time_point now = std::chrono::steady_clock::now()) noexcept {
  using time_point = std::chrono::steady_clock::time_point;
  const std::chrono::nanoseconds length = saturated(time);
  return length >= time_point::max() - now ? time_point::max() : now + length;
}

}  // namespace feedline::detail
