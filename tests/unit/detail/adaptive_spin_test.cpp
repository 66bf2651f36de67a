#include "detail/notifier.hpp"
#include "support/checks/catch.hpp"

#include <chrono>
#include <list>
#include <stdexcept>

using namespace feedline::detail;
using namespace std::chrono_literals;

namespace {

std::chrono::nanoseconds next_spin(adaptive_spin& at) {
  return adaptive_spin::spinner{at}.time();
}

}  // namespace

TEST_CASE(
    "spin time: waits that spinning does not cover make it shorter, down to a few microseconds",
    "[detail][host]") {
  adaptive_spin at{100us};
  for (const auto expected : {100us, 50us, 25us}) {
    CHECK(next_spin(at) == expected);
    at.learn(1ms, 1);
  }
  for (int i = 0; i < 100; ++i) at.learn(1s, 1);
  CHECK(next_spin(at) == 3'125ns);
}

TEST_CASE("spin time: a wait that spinning covers restores it, even if the thread slept",
          "[detail][host]") {
  adaptive_spin at{100us};
  const auto waited = GENERATE(0us, 5us, 100us);
  for (int i = 0; i < 10; ++i) at.learn(1ms, 1);
  at.learn(waited, GENERATE(0U, 1U));
  CHECK(next_spin(at) == 100us);
}

TEST_CASE("spin time: a wait that spinning did not cover makes it shorter", "[detail][host]") {
  adaptive_spin at{100us};
  at.learn(101us, GENERATE(0U, 1U));
  CHECK(next_spin(at) == 50us);
}

TEST_CASE("spin time: few threads spin at a time", "[detail][host]") {
  adaptive_spin at{100us};
  std::list<adaptive_spin::spinner> few;
  for (int i = 0; i < adaptive_spin::max_spinners; ++i) CHECK(few.emplace_back(at).time() == 100us);
  CHECK(next_spin(at) == 3'125ns);
  CHECK(next_spin(at) == 3'125ns);
  few.pop_front();
  CHECK(next_spin(at) == 100us);
}

TEST_CASE("spin time: a thread whose condition throws stops spinning", "[detail][host]") {
  adaptive_spin at{100us};
  const auto fails = []() -> bool { throw std::runtime_error{"lost"}; };
  for (int i = 0; i < adaptive_spin::max_spinners; ++i)
    CHECK_THROWS_AS(spin_until(fails, 1, adaptive_spin::spinner{at}.time()), std::runtime_error);
  CHECK(next_spin(at) == 100us);
}

TEST_CASE("spin time: a long wait with many notifications restores it, because they came quickly",
          "[detail][host]") {
  adaptive_spin at{100us};
  for (int i = 0; i < 10; ++i) at.learn(1ms, 1);
  at.learn(1ms, 9);
  CHECK(next_spin(at) == 3'125ns);
  at.learn(1ms, 10);
  CHECK(next_spin(at) == 100us);
}
