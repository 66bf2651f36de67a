/// Orders that take blocks a window after the other: where their samples lie.

#include "decoding/block_order.hpp"

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
using feedline::detail::epoch_share;
using feedline::test::contains;

namespace {

/// All of an epoch, in batches of 16 of which the last may have fewer.
epoch_share whole_of(const sampler& order, std::uint64_t samples) {
  const std::uint64_t positions = order.size(samples);
  return {.positions = positions, .batch_size = 16, .last = positions % 16};
}

/// A rank's part of whole global batches.
epoch_share part_of(const sampler& order, std::uint64_t samples, std::uint64_t rank,
                    std::uint64_t world) {
  return {.positions = order.size(samples), .batch_size = 5, .rank = rank, .world = world};
}

block_order make(const sampler& order, const epoch_share& share, std::uint64_t samples,
                 std::uint64_t rows) {
  std::string why;
  const auto made = block_order::of({order, share}, samples, rows, why);
  CAPTURE(why);
  REQUIRE(made);
  return *made;
}

block_order make(const sampler& order, std::uint64_t samples, std::uint64_t rows) {
  return make(order, whole_of(order, samples), samples, rows);
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

TEST_CASE("block_order: indices and rows lead to the samples that the sampler gives",
          "[decoding][host]") {
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
          "[decoding][host]") {
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

TEST_CASE("block_order: if a block is a sample, any order says which stands at each position",
          "[decoding][host]") {
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

TEST_CASE(
    "block_order: a rank's indices and rows lead to its samples, and windows to its positions",
    "[decoding][host]") {
  const std::uint64_t samples = GENERATE(61U, 331U);
  const std::uint64_t rows = GENERATE(1U, 2U, 7U);
  const std::uint64_t windows = GENERATE(2U, 9U);
  const std::uint64_t world = GENERATE(1U, 2U, 6U);
  const std::uint64_t rank = GENERATE(0U, 1U, 5U);
  if (rank >= world) return;
  const sampler order = chunk_order{11, rows, windows};
  const epoch_share share = part_of(order, samples, rank, world);
  const block_order blocks = make(order, share, samples, rows);
  CHECK(blocks.blocks() == (rows == 1 ? share.places() : (samples + rows - 1) / rows));

  const std::uint64_t epoch = 3;
  std::vector<sample_index> numbers(blocks.blocks());
  blocks.blocks(epoch, 0, numbers);
  std::vector<sample_index> expected(samples);
  order.indices(samples, epoch, position{0}, expected);
  for (std::uint64_t first = 0; first < share.places(); first += 7) {
    std::vector<sample_index> located(share.places() - first);
    blocks.locate(epoch, position{first}, located);
    const auto window = blocks.window_of(epoch, position{first});
    CHECK((window.first <= first && first < window.end));
    if (window.first > 0) {
      const auto before = blocks.window_of(epoch, position{window.first - 1});
      CHECK(before.end == window.first);
      CHECK(before.end_place <= window.first_place);
    }
    for (std::uint64_t own = first; own < share.places(); ++own) {
      const std::uint64_t place = located[own - first].value / rows;
      const std::uint64_t block = numbers.at(place).value;
      CHECK(block * rows + located[own - first].value % rows ==
            expected[share.at(own).value].value);
      if (own < window.end) CHECK((place >= window.first_place && place < window.end_place));
    }
  }
  // A slot's samples come through no more blocks than that, and parts of two.
  std::vector<sample_index> slot(std::min<std::uint64_t>(10, share.places()));
  blocks.locate(epoch, position{0}, slot);
  const auto first = blocks.window_of(epoch, position{0});
  const auto last = blocks.window_of(epoch, position{slot.size() - 1});
  CHECK(last.end_place - first.first_place <=
        2 * blocks.max_window() + blocks.blocks_of(slot.size()) + 2);
}

TEST_CASE("block_order: if a block is a sample, an epoch may end with samples of its beginning",
          "[decoding][host]") {
  const sampler order = shuffle{.seed = 4};
  const epoch_share filled{.positions = 10, .batch_size = 8, .last = 8};
  const block_order blocks = make(order, filled, 10, 1);
  CHECK(blocks.blocks() == 16);
  std::vector<sample_index> seen(16);
  blocks.blocks(2, 0, seen);
  std::vector<sample_index> expected(10);
  order.indices(10, 2, position{0}, expected);
  for (std::uint64_t i = 0; i < 16; ++i) CHECK(seen[i] == expected[i % 10]);
}

TEST_CASE("block_order: if an epoch ends with samples of its beginning, their blocks come again",
          "[decoding][host]") {
  const std::uint64_t samples = GENERATE(61U, 331U);
  const std::uint64_t rows = GENERATE(2U, 7U);
  const std::uint64_t windows = GENERATE(0U, 2U, 9U, 1000U);
  const std::uint64_t world = GENERATE(1U, 4U);
  const std::uint64_t last = GENERATE(3U, 10U);
  const std::uint64_t epoch = GENERATE(0U, 1U, 2U, 3U);
  if (windows == 0 && world > 1) return;
  const sampler order = windows == 0 ? sampler{sequential{}} : chunk_order{7, rows, windows};
  std::vector<sample_index> expected(samples);
  order.indices(samples, epoch, position{0}, expected);
  for (std::uint64_t rank = 0; rank < world; ++rank) {
    const epoch_share share{
        .positions = samples, .batch_size = 10, .rank = rank, .world = world, .last = last};
    CAPTURE(samples, rows, windows, world, rank, last, epoch);
    const block_order blocks = make(order, share, samples, rows);
    std::vector<sample_index> numbers(blocks.blocks());
    blocks.blocks(epoch, 0, numbers);
    std::vector<sample_index> located(share.places());
    blocks.locate(epoch, position{0}, located);
    block_order::window before{};
    for (std::uint64_t own = 0; own < share.places(); ++own) {
      const std::uint64_t place = located[own].value / rows;
      const std::uint64_t row = located[own].value % rows;
      REQUIRE(place < numbers.size());
      CHECK(numbers[place].value * rows + row == expected[share.at(own).value % samples].value);
      const auto window = blocks.window_of(epoch, position{own});
      CHECK((place >= window.first_place && place < window.end_place));
      CHECK((window.first <= own && own < window.end));
      CHECK(window.end <= share.places());
      CHECK(window.first_place >= before.first_place);
      if (own == 0 || window.first_place != before.first_place) {
        CHECK(window.first == own);
        CHECK(before.end == own);
      }
      before = window;
      // Those of a slot are asked for from anywhere.
      sample_index alone{};
      blocks.locate(epoch, position{own}, {&alone, 1});
      CHECK(alone == located[own]);
    }
    const std::uint64_t once = (samples + rows - 1) / rows;
    CHECK((blocks.blocks() > once) == (share.first_repeat() < share.places()));
    CHECK(blocks.blocks() <= 2 * once);
  }
}

TEST_CASE(
    "block_order: positions that the sampler does not tell have no block, and their neighbours "
    "have theirs",
    "[decoding][host]") {
  const block_order blocks = make(faulty_order{}, 10, 1);
  std::vector<sample_index> seen(10);
  blocks.blocks(0, 0, seen);
  for (std::uint64_t i = 0; i < 10; ++i)
    CHECK(seen[i] == (i == 4 || i == 6 ? block_order::none : sample_index{9 - i}));
}

TEST_CASE("block_order: says why another order is not one", "[decoding][host]") {
  const auto why_not = [](const sampler& order, std::uint64_t rows, const epoch_share& share) {
    std::string why;
    CHECK_FALSE(block_order::of({order, share}, 100, rows, why));
    return why;
  };
  const epoch_share whole{.positions = 100, .batch_size = 10};
  CHECK(contains(why_not(shuffle{.seed = 1}, 10, whole), "window after window"));
  CHECK(contains(why_not(chunk_order{1, 10, 1}, 10, whole), "window after window"));
  CHECK(contains(why_not(chunk_order{1, 10, 3, {2, 10}}, 10, whole), "window after window"));
  CHECK(contains(why_not(chunk_order{1, 20, 3}, 10, whole), "20 samples"));
  const epoch_share part{.positions = 100, .batch_size = 10, .rank = 1, .world = 2};
  CHECK(contains(why_not(sequential{}, 10, part), "whole runs of a sequential order"));
  const epoch_share thrice{.positions = 100, .batch_size = 201, .last = 201};
  CHECK(contains(why_not(chunk_order{1, 10, 3}, 10, thrice), "more than twice"));
}
