#include "detail/arithmetic.hpp"

#include "support/checks/catch.hpp"

#include <cstdint>
#include <limits>

using namespace feedline::detail;

namespace {

constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();

}  // namespace

TEST_CASE("arithmetic: a product that does not fit is nothing, one that does is itself",
          "[detail][host]") {
  CHECK(checked_multiply<std::uint64_t>(6, 7) == 42U);
  CHECK(checked_multiply<std::uint64_t>(0, most) == 0U);
  CHECK(checked_multiply<std::uint64_t>(1, most) == most);
  CHECK_FALSE(checked_multiply<std::uint64_t>(2, most).has_value());
  CHECK(checked_multiply<std::uint64_t>(std::uint64_t{1} << 32, (std::uint64_t{1} << 32) - 1));
  CHECK_FALSE(checked_multiply<std::uint64_t>(std::uint64_t{1} << 32, std::uint64_t{1} << 32));
  CHECK_FALSE(checked_multiply<std::uint8_t>(16, 16).has_value());
}

TEST_CASE("arithmetic: rounding up keeps multiples and lifts the rest", "[detail][host]") {
  CHECK(round_up(0U, 256U) == 0);
  CHECK(round_up(1U, 256U) == 256);
  CHECK(round_up(256U, 256U) == 256);
  CHECK(round_up(257U, 256U) == 512);
}

TEST_CASE("arithmetic: dividing up never overflows in between", "[detail][host]") {
  CHECK(divide_up(0U, 3U) == 0);
  CHECK(divide_up(7U, 3U) == 3);
  CHECK(divide_up(9U, 3U) == 3);
  CHECK(divide_up<std::uint64_t>(most, 2) == std::uint64_t{1} << 63);
  CHECK(divide_up<std::uint64_t>(most, most) == 1);
}
