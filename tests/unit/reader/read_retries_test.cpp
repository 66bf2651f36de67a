#include "dataset/error_policies.hpp"
#include "support/checks/catch.hpp"

#include <chrono>

using namespace feedline;
using feedline::detail::pause_before;
using namespace std::chrono_literals;

TEST_CASE("read retries: pauses double up to the longest", "[reader][host]") {
  const error_policy policy{.first_pause = 100ms, .max_pause = 500ms};
  CHECK(pause_before(0, policy) == 100ms);
  CHECK(pause_before(1, policy) == 200ms);
  CHECK(pause_before(2, policy) == 400ms);
  CHECK(pause_before(3, policy) == 500ms);
  CHECK(pause_before(999, policy) == 500ms);
}

TEST_CASE("read retries: a first pause of 0 stays 0, and equal limits are one length",
          "[reader][host]") {
  CHECK(pause_before(7, {.first_pause = 0ms}) == 0ms);
  CHECK(pause_before(7, {.first_pause = 24h, .max_pause = 24h}) == 24h);
}
