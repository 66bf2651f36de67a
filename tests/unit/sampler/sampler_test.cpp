#include <feedline/sampler/sampler.hpp>
#include <feedline/sampler/sequential.hpp>
#include <feedline/sampler/shuffle.hpp>

#include "support/checks/catch.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

using namespace feedline;

namespace {

/// A user's own order: every second sample, turning round in odd epochs.
struct every_second {
  std::uint64_t size(std::uint64_t samples) const { return (samples + 1) / 2; }
  void indices(std::uint64_t samples, std::uint64_t epoch, position first,
               std::span<sample_index> out) const {
    for (std::uint64_t i = 0; i < out.size(); ++i) {
      const auto place = first.value + i;
      out[i] = sample_index{2 * (epoch % 2 == 0 ? place : size(samples) - 1 - place)};
    }
  }
};

std::vector<std::uint64_t> read(const sampler& order, std::uint64_t samples, std::uint64_t epoch,
                                std::uint64_t first, std::uint64_t count) {
  std::vector<sample_index> out(count);
  order.indices(samples, epoch, position{first}, out);
  std::vector<std::uint64_t> values;
  for (const auto index : out) values.push_back(index.value);
  return values;
}

using values = std::vector<std::uint64_t>;

}  // namespace

TEST_CASE("sampler: types that are samplers are distinguished at compile time", "[sampler][host]") {
  STATIC_REQUIRE(sampler_like<sequential>);
  STATIC_REQUIRE(sampler_like<shuffle>);
  STATIC_REQUIRE(sampler_like<every_second>);
  STATIC_REQUIRE(sampler_like<sampler>);
  STATIC_REQUIRE_FALSE(sampler_like<std::string>);
  STATIC_REQUIRE_FALSE(std::is_convertible_v<std::string, sampler>);
}

TEST_CASE("sampler: sequential gives the dataset's order, in every epoch, from any position",
          "[sampler][host]") {
  const sampler order = sequential{};
  CHECK(order.size(5) == 5);
  CHECK(read(order, 5, 0, 0, 5) == values{0, 1, 2, 3, 4});
  CHECK(read(order, 5, 9, 2, 3) == values{2, 3, 4});
  CHECK(read(order, UINT64_MAX, 0, UINT64_MAX - 2, 2) == values{UINT64_MAX - 2, UINT64_MAX - 1});
  CHECK(read(order, 0, 0, 0, 0).empty());
}

TEST_CASE("sampler: a user's own type serves, and decides how long its epochs are",
          "[sampler][host]") {
  const sampler order = every_second{};
  CHECK(order.size(7) == 4);
  CHECK(read(order, 7, 0, 0, 4) == values{0, 2, 4, 6});
  CHECK(read(order, 7, 1, 1, 2) == values{4, 2});
}

TEST_CASE("sampler: wraps without changing the order, and its copies outlive it",
          "[sampler][host]") {
  std::vector<sample_index> bare(100);
  shuffle{.seed = 3}.indices(100, 4, position{0}, bare);
  values expected;
  for (const auto index : bare) expected.push_back(index.value);

  sampler copy = sequential{};
  {
    const sampler order = shuffle{.seed = 3};
    CHECK(read(order, 100, 4, 0, 100) == expected);
    copy = order;
  }
  CHECK(read(copy, 100, 4, 0, 100) == expected);
  CHECK(copy.size(100) == 100);
}
