#include "detail/patience.hpp"

#include "support/catch.hpp"

#include <chrono>

using namespace feedline::detail;
using namespace std::chrono_literals;

TEST_CASE(
    "patience: waits that spinning does not cover make it shorter, down to a few microseconds",
    "[detail][host]") {
  patience at{100us};
  for (const auto expected : {100us, 50us, 25us}) {
    CHECK(at.spin() == expected);
    at.learn(1ms);
  }
  for (int i = 0; i < 100; ++i) at.learn(1s);
  CHECK(at.spin() == 3'125ns);
}

TEST_CASE("patience: a short wait restores it, and so does one that was slept through",
          "[detail][host]") {
  patience at{100us};
  const auto waited = GENERATE(0us, 5us, 100us, 200us);
  for (int i = 0; i < 10; ++i) at.learn(1ms);
  at.learn(waited);
  CHECK(at.spin() == 100us);
}
