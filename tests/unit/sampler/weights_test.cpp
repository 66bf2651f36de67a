#include "sampler/weights.hpp"

#include <feedline/error.hpp>

#include "support/checks/catch.hpp"
#include "support/checks/message_of.hpp"

#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

using namespace feedline;
using feedline::detail::divide_among;
using feedline::detail::integer_weights;
using feedline::detail::largest_remainders;

namespace {

using integers = std::vector<std::uint64_t>;

std::string refusal(const std::vector<double>& weights) {
  return test::message_of<usage_error>([&] { (void)integer_weights("weighted", weights); });
}

}  // namespace

TEST_CASE("weights: become integers in exact proportion, whatever their size", "[sampler][host]") {
  const std::uint64_t top = std::uint64_t{1} << 62;
  CHECK(integer_weights("", std::vector<double>{1, 0.5, 0, 0.25}) ==
        integers{top, top / 2, 0, top / 4});
  CHECK(integer_weights("", std::vector<double>{3e300, 1e300})[0] > top);
  const double least = std::numeric_limits<double>::denorm_min();
  CHECK(integer_weights("", std::vector<double>{2 * least, least}) == integers{top, top / 2});
  const double most = std::numeric_limits<double>::max();
  CHECK(integer_weights("", std::vector<double>{most, most / 2})[1] > top / 2);
  CHECK(integer_weights("", std::vector<double>{1, 0x1p-62, 0x1p-63}) == integers{top, 1, 0});
}

TEST_CASE("weights: an invalid weight is refused, with its value and index", "[sampler][host]") {
  const std::string say = "; a weight is a finite number from 0 up";
  CHECK(refusal({1, 2, -0.5}) == "weighted: weight 2 is -0.500000" + say);
  CHECK(refusal({1, std::nan("")}) == "weighted: weight 1 is nan" + say);
  CHECK(refusal({std::numeric_limits<double>::infinity()}) == "weighted: weight 0 is inf" + say);
  CHECK(refusal({0, 0, 0}) ==
        "weighted: all 3 weights are 0; one must be more, or nothing can be drawn");
  CHECK(refusal({}) == "weighted: there are no weights; give it one or more");
}

TEST_CASE("weights: shares add up to the total, each within 1 of its part", "[sampler][host]") {
  std::vector<double> weights;
  for (int i = 0; i < 1000; ++i) weights.push_back(i % 7 == 0 ? 0 : 1.0 / (1 + i));
  const double all = std::accumulate(weights.begin(), weights.end(), 0.0);
  for (const std::uint64_t total : {std::uint64_t{1}, std::uint64_t{999}, std::uint64_t{1} << 50}) {
    integers shares = integer_weights("", weights);
    divide_among(shares, total);
    CHECK(std::accumulate(shares.begin(), shares.end(), std::uint64_t{0}) == total);
    for (std::size_t i = 0; i < shares.size(); ++i) {
      const double wanted = weights[i] / all * static_cast<double>(total);
      REQUIRE(std::abs(static_cast<double>(shares[i]) - wanted) < 1.01);
      if (weights[i] == 0) REQUIRE(shares[i] == 0);
    }
  }
}

TEST_CASE("weights: the largest remainders get the rest that rounding down leaves",
          "[sampler][host]") {
  CHECK(largest_remainders(integers{7, 2, 1}, 10) == integers{7, 2, 1});
  CHECK(largest_remainders(integers{1, 1, 1}, 10) == integers{4, 3, 3});
  CHECK(largest_remainders(integers{1, 1, 1}, 11) == integers{4, 4, 3});
  // 47.1, 16, 15.8, 12, 6.1 and 3 of 100
  CHECK(largest_remainders(integers{47'100, 16'000, 15'800, 12'000, 6'100, 3'000}, 10) ==
        integers{5, 2, 1, 1, 1, 0});
  CHECK(largest_remainders(integers{0, 1}, UINT64_MAX) == integers{0, UINT64_MAX});
}
