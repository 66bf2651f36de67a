#include "loader/plan/ring_size.hpp"

#include <feedline/error.hpp>

#include "support/checks/catch.hpp"
#include "support/checks/message_of.hpp"

#include <cstdint>
#include <limits>
#include <string>

using namespace feedline;
using namespace feedline::detail;

namespace {

/// Batches of 100 bytes; this many bytes besides for each batch a slot holds.
ring_size ring(std::size_t budget, std::size_t wanted_slots = 0, std::size_t other = 0) {
  return {"max_some_bytes", budget, wanted_slots,
          [](std::uint64_t batches) { return std::size_t{100} * batches; },
          [other](std::uint64_t batches) { return other * batches; }};
}

std::string refusal(const ring_size& of, std::uint64_t batches, bool fixed) {
  return test::message_of<usage_error>([&] { (void)batches_within(of, batches, fixed); });
}

}  // namespace

TEST_CASE(
    "ring size: without a budget slots have their usual size, and rings four slots, fewer if large",
    "[loader][host]") {
  CHECK(batches_within(ring(0), 1'000, false) == 1'000);
  CHECK(depth_of(ring(0), 1'000) == 4);
  constexpr std::uint64_t quarter = (128U << 20) / 4 / 100;
  CHECK(depth_of(ring(0), quarter) == 4);
  CHECK(depth_of(ring(0), quarter + 1) == 3);
  constexpr std::uint64_t third = (128U << 20) / 3 / 100;
  CHECK(depth_of(ring(0), third) == 3);
  CHECK(depth_of(ring(0), third + 1) == 2);
  CHECK(depth_of(ring(0), 10 * third) == 2);
  CHECK(depth_of(ring(0, 7), 10 * third) == 7);
}

TEST_CASE("ring size: under a budget slots get smaller first, and fewer when they hold one batch",
          "[loader][host]") {
  CHECK(batches_within(ring(4'000), 10, false) == 10);
  CHECK(batches_within(ring(3'999), 10, false) == 9);
  CHECK(depth_of(ring(3'999), 9) == 4);
  CHECK(batches_within(ring(400), 10, false) == 1);
  CHECK(depth_of(ring(400), 1) == 4);
  CHECK(batches_within(ring(399), 10, false) == 1);
  CHECK(depth_of(ring(399), 1) == 3);
  CHECK(batches_within(ring(200), 10, false) == 1);
  CHECK(depth_of(ring(200), 1) == 2);
  CHECK(refusal(ring(199), 10, false) ==
        "max_some_bytes is 199 bytes, but 2 slots of 100 bytes need 200: raise it, or "
        "lower batch_size");
}

TEST_CASE("ring size: numbers that the user set are not lowered", "[loader][host]") {
  CHECK(batches_within(ring(2'000), 10, true) == 10);
  CHECK(depth_of(ring(2'000), 10) == 2);
  CHECK(batches_within(ring(2'000, 5), 10, false) == 4);
  CHECK(depth_of(ring(2'000, 5), 4) == 5);
  CHECK(refusal(ring(1'999), 10, true) ==
        "max_some_bytes is 1999 bytes, but 2 slots of 1000 bytes need 2000: raise it, "
        "or lower batch_size, batches_per_slot");
  CHECK(refusal(ring(499, 5), 10, false) ==
        "max_some_bytes is 499 bytes, but 5 slots of 100 bytes need 500: raise it, or "
        "lower batch_size or the number of slots");
}

TEST_CASE("ring size: other memory counts for the budget, and the error names it",
          "[loader][host]") {
  CHECK(batches_within(ring(600, 0, 200), 10, false) == 1);
  CHECK(depth_of(ring(600, 0, 200), 1) == 4);
  CHECK(batches_within(ring(599, 0, 200), 10, false) == 1);
  CHECK(depth_of(ring(599, 0, 200), 1) == 3);
  CHECK(batches_within(ring(6'000, 0, 200), 99, false) == 10);
  CHECK(refusal(ring(399, 0, 200), 10, false) ==
        "max_some_bytes is 399 bytes, but 2 slots of 100 bytes and 200 bytes besides "
        "need 400: raise it, or lower batch_size");
}

TEST_CASE("ring size: the ring is within its budget for every budget and number of batches",
          "[loader][host]") {
  for (std::size_t other : {0U, 30U, 170U}) {
    for (std::size_t budget = 2 * 100 + other; budget < 6'000; budget += 37) {
      const ring_size of = ring(budget, 0, other);
      const std::uint64_t batches = batches_within(of, 12, false);
      const std::size_t depth = depth_of(of, batches);
      CAPTURE(budget, other, batches, depth);
      REQUIRE(depth >= 2);
      REQUIRE(depth * batches * 100 + batches * other <= budget);
      // Four deep, one more batch a slot would be too much, or there are as many as there may be.
      if (depth == 4 && batches < 12)
        REQUIRE(4 * (batches + 1) * 100 + (batches + 1) * other > budget);
    }
  }
}

TEST_CASE("ring size: sizes beyond any address space are too much for any budget",
          "[loader][host]") {
  static constexpr std::size_t half = std::numeric_limits<std::size_t>::max() / 2 + 1;
  const ring_size huge{"max_some_bytes", std::numeric_limits<std::size_t>::max(), 0,
                       [](std::uint64_t) { return half; }};
  CHECK(refusal(huge, 1, false).find("need more than 2^64") != std::string::npos);
  const ring_size besides{"max_some_bytes", std::numeric_limits<std::size_t>::max(), 0,
                          [](std::uint64_t) { return std::size_t{100}; },
                          [](std::uint64_t) { return std::numeric_limits<std::size_t>::max(); }};
  CHECK(refusal(besides, 1, false).find("need more than 2^64") != std::string::npos);
}
