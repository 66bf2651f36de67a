#include <feedline/sampler/shuffle.hpp>

#include "support/checks/catch.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

using namespace feedline;

namespace {

std::vector<sample_index> order_of(const shuffle& order, std::uint64_t samples, std::uint64_t epoch,
                                   std::uint64_t first, std::uint64_t count) {
  std::vector<sample_index> out(count, sample_index{UINT64_MAX});
  order.indices(samples, epoch, position{first}, out);
  return out;
}

std::vector<sample_index> whole_order(const shuffle& order, std::uint64_t samples,
                                      std::uint64_t epoch) {
  return order_of(order, samples, epoch, 0, samples);
}

bool is_permutation_of_all(const std::vector<sample_index>& order) {
  std::vector<char> seen(order.size(), 0);
  return std::ranges::all_of(order, [&](sample_index index) {
    return index.value < seen.size() && seen[index.value]++ == 0;
  });
}

}  // namespace

TEST_CASE("shuffle: every sample stands exactly once in an epoch, for every size up to 300",
          "[sampler][host]") {
  for (std::uint64_t samples = 0; samples <= 300; ++samples)
    for (std::uint64_t epoch = 0; epoch < 4; ++epoch) {
      INFO("samples " << samples << ", epoch " << epoch);
      REQUIRE(is_permutation_of_all(whole_order({.seed = samples * 31}, samples, epoch)));
    }
}

TEST_CASE(
    "shuffle: every sample stands exactly once in an epoch, for large sizes about powers of 2",
    "[sampler][host]") {
  const std::uint64_t samples = GENERATE(60'000U, 65'535U, 65'536U, 65'537U, 1'000'003U);
  CHECK(is_permutation_of_all(whole_order({.seed = 5}, samples, 1)));
}

TEST_CASE("shuffle: a position's sample is the same alone and in a run of any length",
          "[sampler][host]") {
  // 257 and 5000 lie just above and well below a power of 2: many values are drawn again.
  for (const std::uint64_t samples : {1U, 2U, 3U, 100U, 257U, 5000U}) {
    const shuffle order{.seed = 11};
    const auto whole = whole_order(order, samples, 3);
    for (std::uint64_t first = 0; first < samples; first += 1 + samples / 97) {
      REQUIRE(order_of(order, samples, 3, first, 1).front() == whole[first]);
      const auto count = std::min<std::uint64_t>(samples - first, 1 + first % 700);
      const auto begin = whole.begin() + static_cast<std::ptrdiff_t>(first);
      const auto run = order_of(order, samples, 3, first, count);
      REQUIRE(std::equal(run.begin(), run.end(), begin));
    }
  }
}

TEST_CASE("shuffle: sizes up to the largest work, in range and without repetition",
          "[sampler][host]") {
  const std::uint64_t samples = GENERATE((1ULL << 32) - 1, 1ULL << 32, (1ULL << 32) + 1,
                                         (1ULL << 62) + 1, 1ULL << 63, UINT64_MAX);
  for (const std::uint64_t first : {std::uint64_t{0}, samples / 2, samples - 1000}) {
    auto run = order_of({.seed = 1}, samples, 0, first, 1000);
    std::ranges::sort(run);
    CHECK(run.back().value < samples);
    CHECK(std::ranges::adjacent_find(run) == run.end());
  }
}

TEST_CASE("shuffle: nothing is written for an empty run or an empty dataset", "[sampler][host]") {
  CHECK(order_of({}, 0, 0, 0, 0).empty());
  CHECK(order_of({}, 10, 0, 10, 0).empty());
}

TEST_CASE("shuffle: the same epoch has one order, and other epochs and seeds have others",
          "[sampler][host]") {
  const shuffle order{.seed = 42};
  const auto first = whole_order(order, 1000, 0);
  CHECK(whole_order(order, 1000, 0) == first);
  CHECK(whole_order(shuffle{.seed = 42}, 1000, 0) == first);
  for (std::uint64_t other = 1; other < 100; ++other) {
    CHECK(whole_order(order, 1000, other) != first);
    CHECK(whole_order({.seed = 42 + other}, 1000, 0) != first);
  }
  CHECK(whole_order({.seed = 1}, 1000, 2) != whole_order({.seed = 2}, 1000, 1));
}

// The order is stable across versions of feedline, platforms and compilers: a run can be resumed or
// compared years later. If this test fails, the current change breaks that promise; undo it rather
// than edit the numbers.
TEST_CASE("shuffle: the order of given (seed, epoch, samples) is the one it has always been",
          "[sampler][host]") {
  struct pinned {
    std::uint64_t seed, epoch, samples, first;
    std::array<std::uint64_t, 8> expected;
  };
  const std::array<pinned, 7> known{{
      {0, 0, 10, 0, {3, 4, 7, 1, 2, 9, 8, 5}},
      {42, 0, 60'000, 0, {58332, 28240, 54383, 6019, 8306, 5066, 37365, 58859}},
      {42, 1, 60'000, 0, {31152, 9942, 57380, 40605, 59523, 12023, 28828, 11152}},
      {42, 0, 60'000, 59'990, {53348, 20186, 7173, 1725, 18892, 11617, 36714, 20647}},
      {7, 3, 1'000'003, 500'000, {992770, 80258, 429057, 213956, 916758, 688766, 797794, 966193}},
      {1,
       2,
       (1ULL << 40) + 1,
       123'456'789,
       {195512116648, 68167607096, 552540134005, 401127143922, 892348936432, 818576459330,
        920200090657, 231448129656}},
      {UINT64_MAX,
       UINT64_MAX,
       1ULL << 63,
       (1ULL << 63) - 10,
       {688856681720680576, 2316683872673047169, 603010522661349596, 4897277581559137897,
        5543640213843314775, 4275865355563316541, 8369761286696379334, 4191754303882248377}},
  }};
  for (const auto& [seed, epoch, samples, first, expected] : known) {
    INFO("seed " << seed << ", epoch " << epoch << ", samples " << samples);
    const auto run = order_of({.seed = seed}, samples, epoch, first, expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) CHECK(run[i].value == expected[i]);
  }
}
