/// Orders that take blocks a window after the other: where their samples lie.

#include "staging/block_order.hpp"

#include <feedline/sampler/sequential.hpp>
#include <feedline/sampler/shuffle.hpp>

#include "sampler/chunk_order.hpp"
#include "support/checks/catch.hpp"
#include "support/checks/contains.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

using namespace feedline;
using feedline::detail::block_order;
using feedline::detail::chunk_order;
using feedline::test::contains;

namespace {

block_order make(const sampler& order, std::uint64_t samples, std::uint64_t rows) {
  std::string why;
  const auto made = block_order::of(order, samples, rows, why);
  CAPTURE(why);
  REQUIRE(made);
  return *made;
}

}  // namespace

TEST_CASE("block_order: places and rows lead to the samples that the sampler gives",
          "[staging][host]") {
  const std::uint64_t samples = GENERATE(60U, 61U, 64U, 331U);
  const std::uint64_t rows = GENERATE(2U, 7U, 16U);
  const std::uint64_t windows = GENERATE(0U, 2U, 3U, 1000U);
  const std::uint64_t epoch = GENERATE(0U, 1U, 5U);
  const sampler order = windows == 0 ? sampler{sequential{}} : chunk_order{11, rows, windows};
  const block_order blocks = make(order, samples, rows);
  CHECK(blocks.blocks() == (samples + rows - 1) / rows);

  std::vector<sample_index> numbers(blocks.blocks());
  blocks.blocks(epoch, 0, numbers);
  std::vector<sample_index> sorted = numbers;
  std::sort(sorted.begin(), sorted.end(), [](auto a, auto b) { return a.value < b.value; });
  for (std::uint64_t i = 0; i < sorted.size(); ++i) CHECK(sorted[i].value == i);
  sample_index third{};
  blocks.blocks(epoch, 2, {&third, 1});
  CHECK(third.value == numbers[2].value);

  std::vector<sample_index> expected(samples);
  order.indices(samples, epoch, position{0}, expected);
  for (const std::uint64_t first : {std::uint64_t{0}, std::uint64_t{5}, samples - 3}) {
    std::vector<sample_index> located(samples - first);
    blocks.locate(epoch, position{first}, located);
    for (std::uint64_t i = 0; i < located.size(); ++i) {
      const std::uint64_t block = numbers.at(located[i].value / rows).value;
      CHECK(block * rows + located[i].value % rows == expected[first + i].value);
    }
  }
}

TEST_CASE("block_order: windows follow each other, and hold the blocks of their samples alone",
          "[staging][host]") {
  const std::uint64_t samples = GENERATE(60U, 61U, 331U);
  const std::uint64_t rows = GENERATE(2U, 7U, 16U);
  const std::uint64_t windows = GENERATE(0U, 2U, 3U, 1000U);
  const std::uint64_t epoch = GENERATE(0U, 4U);
  const sampler order = windows == 0 ? sampler{sequential{}} : chunk_order{2, rows, windows};
  const block_order blocks = make(order, samples, rows);
  std::vector<sample_index> located(samples);
  blocks.locate(epoch, position{0}, located);
  std::uint64_t place = 0;
  for (std::uint64_t at = 0; at < samples;) {
    const auto window = blocks.window_of(epoch, position{at});
    CHECK(window.first == at);
    CHECK(window.first_place == place);
    CHECK(window.end_place - window.first_place <= blocks.max_window());
    REQUIRE(window.end > at);
    for (; at < window.end; ++at) {
      const auto same = blocks.window_of(epoch, position{at});
      CHECK(same.first == window.first);
      CHECK(same.end == window.end);
      const std::uint64_t of = located[at].value / rows;
      CHECK((of >= window.first_place && of < window.end_place));
    }
    place = window.end_place;
  }
  CHECK(place == blocks.blocks());
}

TEST_CASE("block_order: says why another order is none", "[staging][host]") {
  const auto why_not = [](const sampler& order, std::uint64_t rows) {
    std::string why;
    CHECK_FALSE(block_order::of(order, 100, rows, why));
    return why;
  };
  CHECK(contains(why_not(shuffle{.seed = 1}, 10), "window after window"));
  CHECK(contains(why_not(chunk_order{1, 10, 1}, 10), "window after window"));
  CHECK(contains(why_not(chunk_order{1, 10, 3, {2, 10}}, 10), "window after window"));
  CHECK(contains(why_not(chunk_order{1, 20, 3}, 10), "20 samples"));
}
