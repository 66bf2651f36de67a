#include "detail/doorbell.hpp"
#include "support/checks/catch.hpp"

#include <chrono>

using namespace feedline::detail;
using namespace std::chrono_literals;

namespace {

std::chrono::nanoseconds next_spin(patience& at) {
  const auto spin = at.begin();
  at.end();
  return spin;
}

}  // namespace

TEST_CASE(
    "patience: waits that spinning does not cover make it shorter, down to a few microseconds",
    "[detail][host]") {
  patience at{100us};
  for (const auto expected : {100us, 50us, 25us}) {
    CHECK(next_spin(at) == expected);
    at.learn(1ms, 1);
  }
  for (int i = 0; i < 100; ++i) at.learn(1s, 1);
  CHECK(next_spin(at) == 3'125ns);
}

TEST_CASE("patience: a wait that spinning covers restores it, also where it was slept through",
          "[detail][host]") {
  patience at{100us};
  const auto waited = GENERATE(0us, 5us, 100us);
  for (int i = 0; i < 10; ++i) at.learn(1ms, 1);
  at.learn(waited, GENERATE(0U, 1U));
  CHECK(next_spin(at) == 100us);
}

TEST_CASE("patience: a wait that spinning did not cover is none to spin for", "[detail][host]") {
  patience at{100us};
  at.learn(101us, GENERATE(0U, 1U));
  CHECK(next_spin(at) == 50us);
}

TEST_CASE("patience: few spin at a time", "[detail][host]") {
  patience at{100us};
  for (int i = 0; i < patience::most_spinners; ++i) CHECK(at.begin() == 100us);
  CHECK(at.begin() == 3'125ns);
  at.end();
  CHECK(at.begin() == 3'125ns);
  for (int i = 0; i < 2; ++i) at.end();
  CHECK(next_spin(at) == 100us);
}

TEST_CASE("patience: a long wait that many rings fell into restores it, for they came quickly",
          "[detail][host]") {
  patience at{100us};
  for (int i = 0; i < 10; ++i) at.learn(1ms, 1);
  at.learn(1ms, 9);
  CHECK(next_spin(at) == 3'125ns);
  at.learn(1ms, 10);
  CHECK(next_spin(at) == 100us);
}
