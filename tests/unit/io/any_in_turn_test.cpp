#include "io/any_in_turn.hpp"

#include "support/checks/catch.hpp"

#include <cstddef>
#include <vector>

using feedline::detail::any_in_turn;

TEST_CASE("any in turn: few things are all asked each time", "[dataset][host]") {
  any_in_turn any;
  std::size_t which = 63;
  std::size_t asked = 0;
  const auto is = [&](std::size_t i) {
    ++asked;
    return i == which;
  };
  CHECK(any(64, is));
  which = 64;
  asked = 0;
  CHECK_FALSE(any(64, is));
  CHECK(asked == 64);
  CHECK_FALSE(any(0, is));
  CHECK(any_in_turn{}(1, [](std::size_t i) { return i == 0; }));
}

TEST_CASE("any in turn: a few of many things are asked each time, and each within a round",
          "[dataset][host]") {
  constexpr std::size_t count = 1000;
  any_in_turn any;
  std::vector<int> asked(count);
  std::size_t which = 700;
  const auto ask = [&] {
    std::size_t now = 0;
    const bool answer = any(count, [&](std::size_t i) {
      ++asked[i];
      ++now;
      return i == which;
    });
    CHECK(now <= any_in_turn::max_asked);
    return answer;
  };
  int times = 1;
  while (!ask()) ++times;
  CHECK(times == 11);  // the first 64, the next 64, ...
  which = count;
  for (times = 1; ask();) ++times;
  CHECK(times == 16);  // yes is kept until all have answered no
  for (const int each : asked) CHECK(each != 0);
}
