#include "detail/saturated.hpp"

#include "support/checks/catch.hpp"

#include <chrono>

using namespace std::chrono;
using namespace std::chrono_literals;
using feedline::detail::deadline_after;
using feedline::detail::saturated;

TEST_CASE("saturated: times that nanoseconds cannot count become the longest, or the shortest",
          "[detail][host]") {
  CHECK(saturated(0ms) == 0ns);
  CHECK(saturated(-3ms) == -3ms);
  CHECK(saturated(milliseconds{9'223'372'036'854}) == milliseconds{9'223'372'036'854});
  CHECK(saturated(milliseconds{9'223'372'036'855}) == nanoseconds::max());
  CHECK(saturated(milliseconds::max()) == nanoseconds::max());
  CHECK(saturated(milliseconds::min()) == nanoseconds::min());
}

TEST_CASE("saturated: a deadline that no clock can show is never, and not in the past",
          "[detail][host]") {
  using clock = steady_clock;
  const clock::time_point now{1000s};
  CHECK(deadline_after(5ms, now) == now + 5ms);
  CHECK(deadline_after(-5ms, now) == now - 5ms);
  CHECK(deadline_after(milliseconds::max(), now) == clock::time_point::max());
  // It fits in nanoseconds, but not when added to the present time.
  CHECK(deadline_after(milliseconds{9'223'372'036'000}, now) == clock::time_point::max());
  CHECK(deadline_after(milliseconds{9'223'371'036'000}, now) < clock::time_point::max());
  CHECK(deadline_after(milliseconds{9'223'371'036'000}, now) > now);
}
