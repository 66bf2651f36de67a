#include "detail/doorbell.hpp"
#include "support/checks/catch.hpp"

#include <chrono>

using namespace feedline::detail;
using namespace std::chrono_literals;

TEST_CASE(
    "patience: waits that spinning does not cover make it shorter, down to a few microseconds",
    "[detail][host]") {
  patience at{100us};
  for (const auto expected : {100us, 50us, 25us}) {
    CHECK(at.spin() == expected);
    at.learn(1ms, 1);
  }
  for (int i = 0; i < 100; ++i) at.learn(1s, 1);
  CHECK(at.spin() == 3'125ns);
}

TEST_CASE("patience: a short wait restores it, and so does one that was slept through",
          "[detail][host]") {
  patience at{100us};
  const auto waited = GENERATE(0us, 5us, 100us, 200us);
  for (int i = 0; i < 10; ++i) at.learn(1ms, 1);
  at.learn(waited, GENERATE(0U, 1U));
  CHECK(at.spin() == 100us);
}

TEST_CASE("patience: a long wait that many rings fell into restores it, for they came quickly",
          "[detail][host]") {
  patience at{100us};
  for (int i = 0; i < 10; ++i) at.learn(1ms, 1);
  at.learn(1ms, 4);
  CHECK(at.spin() == 3'125ns);
  at.learn(1ms, 5);
  CHECK(at.spin() == 100us);
}
