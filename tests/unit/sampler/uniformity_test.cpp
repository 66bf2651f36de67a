#include <feedline/sampler/shuffle.hpp>

#include "support/checks/catch.hpp"
#include "support/checks/chi_square.hpp"

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

using namespace feedline;
using feedline::test::deviation;

// Chi-square tests of the shuffle against a uniform choice among all permutations. Seeds are fixed,
// so each passes always or never.

namespace {

std::vector<sample_index> whole_order(std::uint64_t seed, std::uint64_t samples,
                                      std::uint64_t epoch) {
  std::vector<sample_index> out(samples);
  shuffle{.seed = seed}.indices(samples, epoch, position{0}, out);
  return out;
}

/// Beyond this no test of a fair shuffle ends, but once in a few thousand.
constexpr double limit = 3.5;

}  // namespace

TEST_CASE("shuffle: all permutations of a few samples are equally likely over the epochs",
          "[sampler][host]") {
  const std::uint64_t samples = GENERATE(2U, 3U, 4U, 5U);
  std::uint64_t permutations = 1;
  for (std::uint64_t i = 2; i <= samples; ++i) permutations *= i;
  std::map<std::vector<sample_index>, std::uint64_t> seen;
  for (std::uint64_t epoch = 0; epoch < permutations * 500; ++epoch)
    ++seen[whole_order(17, samples, epoch)];
  REQUIRE(seen.size() == permutations);
  std::vector<std::uint64_t> counts;
  for (const auto& [order, count] : seen) counts.push_back(count);
  CHECK(std::abs(deviation(counts)) < limit);
}

TEST_CASE("shuffle: over the epochs, and over the seeds, a sample stands at every position alike",
          "[sampler][host]") {
  const std::uint64_t samples = GENERATE(16U, 100U, 129U, 500U);
  const bool over_seeds = GENERATE(false, true);
  constexpr std::uint64_t buckets = 16;
  // For a few samples each: where they stand.
  std::array<std::vector<std::uint64_t>, 5> counts;
  counts.fill(std::vector<std::uint64_t>(samples, 0));
  for (std::uint64_t draw = 0; draw < samples * buckets; ++draw) {
    const auto order = over_seeds ? whole_order(draw, samples, 0) : whole_order(99, samples, draw);
    for (std::uint64_t place = 0; place < samples; ++place)
      for (std::size_t i = 0; i < counts.size(); ++i)
        if (order[place].value == i * (samples - 1) / 4) ++counts[i][place];
  }
  for (const auto& of_one_sample : counts) CHECK(std::abs(deviation(of_one_sample)) < limit);
}

TEST_CASE("shuffle: over the epochs, every ordered pair of neighbours is equally likely",
          "[sampler][host]") {
  const std::uint64_t samples = GENERATE(8U, 33U, 64U, 130U);
  const std::uint64_t pairs = samples * (samples - 1);
  std::vector<std::uint64_t> counts(samples * samples, 0);
  for (std::uint64_t epoch = 0; epoch < pairs * 2; ++epoch) {
    const auto order = whole_order(7, samples, epoch);
    for (std::uint64_t i = 0; i + 1 < samples; i += 2)
      ++counts[order[i].value * samples + order[i + 1].value];
  }
  std::vector<std::uint64_t> of_pairs;
  for (std::uint64_t i = 0; i < counts.size(); ++i)
    if (i / samples != i % samples) of_pairs.push_back(counts[i]);
  CHECK(std::abs(deviation(of_pairs)) < limit);
}

TEST_CASE("shuffle: within an epoch, the step from a sample to the next is spread evenly",
          "[sampler][host]") {
  const std::uint64_t samples = GENERATE(4096U, 60'000U);
  std::vector<std::uint64_t> counts(64, 0);
  for (std::uint64_t epoch = 0; epoch < 20; ++epoch) {
    const auto order = whole_order(23, samples, epoch);
    for (std::size_t i = 1; i < order.size(); ++i) {
      const auto step = (order[i].value + samples - order[i - 1].value) % samples;
      ++counts[step * counts.size() / samples];
    }
  }
  CHECK(std::abs(deviation(counts)) < limit);
}

TEST_CASE("shuffle: a sample's position in one epoch tells nothing about its position in the next",
          "[sampler][host]") {
  constexpr std::uint64_t samples = 60'000;
  constexpr std::uint64_t buckets = 16;
  std::vector<std::uint64_t> counts(buckets * buckets, 0);
  std::vector<std::uint64_t> place(samples);
  for (std::uint64_t epoch = 0; epoch < 10; ++epoch) {
    const auto order = whole_order(1, samples, epoch);
    for (std::uint64_t i = 0; i < samples; ++i) {
      if (epoch > 0)
        ++counts[place[order[i].value] * buckets / samples * buckets + i * buckets / samples];
      place[order[i].value] = i;
    }
  }
  CHECK(std::abs(deviation(counts)) < limit);
}
