/// Orders that take blocks a window after the other: where their samples lie.

#include "staging/block_order.hpp"

#include <feedline/sampler/explicit_order.hpp>
#include <feedline/sampler/sequential.hpp>
#include <feedline/sampler/shuffle.hpp>
#include <feedline/sampler/weighted.hpp>

#include "sampler/chunk_order.hpp"
#include "support/checks/catch.hpp"
#include "support/checks/contains.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <span>
#include <stdexcept>
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

/// Backwards; it throws where position 4 is among those asked for, and gives no sample at 6.
struct faulty_order {
  static std::uint64_t size(std::uint64_t samples) { return samples; }
  static void indices(std::uint64_t samples, std::uint64_t, position first,
                      std::span<sample_index> out) {
    for (std::uint64_t at = first.value; sample_index & each : out) {
      if (at == 4) throw std::runtime_error{"position 4"};
      each = sample_index{at == 6 ? samples : samples - 1 - at};
      ++at;
    }
  }
};

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

TEST_CASE("block_order: where a block is a sample, any order says which stands at each position",
          "[staging][host]") {
  const std::vector<std::uint64_t> listed{5, 5, 2, 9, 0, 5, 7, 1, 2, 2, 3, 3, 3};
  const sampler order = GENERATE_COPY(
      as<sampler>{}, sequential{}, shuffle{.seed = 4}, explicit_order{listed}, chunk_order{2, 5, 2},
      weighted{std::vector<double>{1, 0, 3, 1, 1, 1, 1, 1, 1, 9}, {.epoch_size = 31}});
  const std::uint64_t epoch = GENERATE(0U, 3U);
  const block_order blocks = make(order, 10, 1);
  const std::uint64_t positions = order.size(10);
  CHECK(blocks.blocks() == positions);
  CHECK(blocks.max_window() == 1);
  std::vector<sample_index> expected(positions);
  order.indices(10, epoch, position{0}, expected);
  std::vector<sample_index> seen(positions - 3);
  blocks.blocks(epoch, 3, seen);
  CHECK(std::equal(seen.begin(), seen.end(), expected.begin() + 3));
  std::vector<sample_index> located(4);
  blocks.locate(epoch, position{2}, located);
  for (std::uint64_t i = 0; i < 4; ++i) {
    CHECK(located[i].value == 2 + i);
    const auto window = blocks.window_of(epoch, position{2 + i});
    CHECK((window.first_place == 2 + i && window.end_place == 3 + i));
    CHECK((window.first == 2 + i && window.end == 3 + i));
  }
}

TEST_CASE("block_order: what the sampler does not tell is no block, and its neighbours are theirs",
          "[staging][host]") {
  const block_order blocks = make(faulty_order{}, 10, 1);
  std::vector<sample_index> seen(10);
  blocks.blocks(0, 0, seen);
  for (std::uint64_t i = 0; i < 10; ++i)
    CHECK(seen[i] == (i == 4 || i == 6 ? block_order::none : sample_index{9 - i}));
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
