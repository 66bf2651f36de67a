// weighted, without replacement

#include <feedline/sampler/weighted.hpp>

#include "support/checks/catch.hpp"
#include "support/checks/chi_square.hpp"
#include "support/checks/sampler_contract.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <set>
#include <vector>

using namespace feedline;
using namespace feedline::test;

namespace {

using numbers = std::vector<std::uint64_t>;

sampler drawing(const std::vector<double>& weights, std::uint64_t epoch_size,
                std::uint64_t seed = 7) {
  return weighted{weights, {.seed = seed, .epoch_size = epoch_size, .replacement = false}};
}

std::vector<double> rising(std::size_t count) {
  std::vector<double> weights;
  for (std::size_t i = 0; i < count; ++i) weights.push_back(static_cast<double>(i));
  return weights;
}

/// In how many of this many epochs each sample is.
numbers epochs_with(const sampler& order, std::uint64_t samples, std::uint64_t epochs) {
  numbers times(samples, 0);
  for (std::uint64_t epoch = 0; epoch < epochs; ++epoch)
    for (const std::uint64_t sample : epoch_of(order, samples, epoch)) ++times[sample];
  return times;
}

bool all_differ(const numbers& values) {
  return std::set<std::uint64_t>(values.begin(), values.end()).size() == values.size();
}

}  // namespace

TEST_CASE("weighted without replacement: no sample is twice in an epoch, for all small sizes",
          "[sampler][host]") {
  for (const std::uint64_t samples : {2U, 3U, 17U, 64U, 65U, 200U, 1000U})
    for (std::uint64_t size = 1; size < samples; size += 1 + samples / 9) {
      INFO(samples << " samples, epochs of " << size);
      const auto order = drawing(rising(samples), size);
      for (std::uint64_t epoch = 0; epoch < 20; ++epoch) {
        const auto drawn = epoch_of(order, samples, epoch);
        REQUIRE(drawn.size() == size);
        REQUIRE(all_differ(drawn));
        REQUIRE(*std::min_element(drawn.begin(), drawn.end()) > 0);  // sample 0 has weight 0
      }
    }
}

TEST_CASE(
    "weighted without replacement: a sample is in an epoch with a chance in proportion to "
    "its weight",
    "[sampler][host]") {
  const std::uint64_t samples = GENERATE(10U, 70U, 300U);
  const std::uint64_t size = samples / 5;
  constexpr std::uint64_t epochs = 20'000;
  const auto weights = rising(samples);
  const auto times = epochs_with(drawing(weights, size), samples, epochs);
  const double all = static_cast<double>(samples * (samples - 1)) / 2;
  for (std::size_t i = 0; i < samples; ++i) {
    const double chance = static_cast<double>(size) * weights[i] / all;
    const double deviation = std::sqrt(epochs * chance * (1 - chance));
    INFO("sample " << i << " of " << samples);
    CHECK(std::abs(static_cast<double>(times[i]) - epochs * chance) <= 4.5 * deviation);
  }
}

TEST_CASE(
    "weighted without replacement: a sample too heavy for its chance is in every epoch, and "
    "others share the rest",
    "[sampler][host]") {
  // 4 of these: the 100 and then the 20 are certain, the others have a chance of 2 × w / 10.
  const std::vector<double> weights{1, 100, 2, 3, 20, 4};
  constexpr std::uint64_t epochs = 20'000;
  const auto times = epochs_with(drawing(weights, 4), 6, epochs);
  CHECK(times[1] == epochs);
  CHECK(times[4] == epochs);
  for (const std::size_t i : {0U, 2U, 3U, 5U}) {
    const double chance = 2 * weights[i] / 10;
    CHECK(std::abs(static_cast<double>(times[i]) - epochs * chance) <
          4 * std::sqrt(epochs * chance * (1 - chance)));
  }
}

TEST_CASE(
    "weighted without replacement: among samples far lighter than one that is in every epoch, "
    "chances are in proportion too",
    "[sampler][host]") {
  const std::vector<double> weights{1, 1e25, 2, 1e40, 3};
  constexpr std::uint64_t epochs = 20'000;
  const auto times = epochs_with(drawing(weights, 3), 5, epochs);
  CHECK(times[1] == epochs);
  CHECK(times[3] == epochs);
  CHECK(std::abs(deviation({times[0], times[2], times[4]}, {1, 2, 3})) < 3.5);
}

TEST_CASE("weighted without replacement: as many as there are give each sample once",
          "[sampler][host]") {
  std::vector<double> weights{5, 1, 1, 0.001, 7, 1e-12};
  auto drawn = epoch_of(drawing(weights, 6), 6, 9);
  std::sort(drawn.begin(), drawn.end());
  CHECK(drawn == numbers{0, 1, 2, 3, 4, 5});
  weights.push_back(0);
  drawn = epoch_of(drawing(weights, 6), 7, 9);
  CHECK(std::count(drawn.begin(), drawn.end(), 6U) == 0);
}

TEST_CASE("weighted without replacement: in a long epoch, a sample may have any position",
          "[sampler][host]") {
  const auto order = drawing({1, 2, 3, 4, 5, 6, 7, 8}, 4);
  std::vector<numbers> at(8, numbers(4));
  for (std::uint64_t epoch = 0; epoch < 20'000; ++epoch) {
    const auto drawn = epoch_of(order, 8, epoch);
    for (std::size_t place = 0; place < 4; ++place) ++at[drawn[place]][place];
  }
  for (const auto& of_one : at) CHECK(std::abs(deviation(of_one)) < 3.5);
}

TEST_CASE("weighted without replacement: which samples are drawn together changes over the epochs",
          "[sampler][host]") {
  // 20 of 200 equal weights: a pair is in 1 of 104.7 epochs if all sets are equally likely. With
  // one fixed line there would be only 10 sets, and most pairs would never come.
  constexpr std::uint64_t samples = 200;
  constexpr std::uint64_t epochs = 20'000;
  const auto order = drawing(std::vector<double>(samples, 1), 20);
  std::vector<std::uint64_t> pairs(samples * samples, 0);
  for (std::uint64_t epoch = 0; epoch < epochs; ++epoch) {
    const auto drawn = epoch_of(order, samples, epoch);
    for (const std::uint64_t a : drawn)
      for (const std::uint64_t b : drawn)
        if (a < b) ++pairs[a * samples + b];
  }
  std::uint64_t rare = 0;
  for (std::uint64_t a = 0; a < samples; ++a)
    for (std::uint64_t b = a + 1; b < samples; ++b)
      if (pairs[a * samples + b] < 120 || pairs[a * samples + b] > 270) ++rare;
  // 191 are expected. Samples that lie side by side in a group are not drawn together.
  CHECK(rare < samples * 3);
}

TEST_CASE("weighted without replacement: epochs draw different sets, also where groups are alike",
          "[sampler][host]") {
  const std::uint64_t samples = GENERATE(200U, 640U);  // 640: ten in each of 64 groups
  const auto order = drawing(std::vector<double>(samples, 1), samples / 10);
  std::set<numbers> sets;
  for (std::uint64_t epoch = 0; epoch < 200; ++epoch) {
    auto drawn = epoch_of(order, samples, epoch);
    std::sort(drawn.begin(), drawn.end());
    sets.insert(drawn);
  }
  CHECK(sets.size() == 200);
}

TEST_CASE("weighted without replacement: a position's sample is the same in every cut",
          "[sampler][host]") {
  check_is_pure(drawing(rising(500), 331), 500);
  check_is_pure(drawing({3, 0}, 1), 2);
}

TEST_CASE("weighted without replacement: a million samples in an epoch of half as many",
          "[sampler][host]") {
  constexpr std::uint64_t samples = 1'000'000;
  std::vector<double> weights(samples);
  for (std::size_t i = 0; i < samples; ++i) weights[i] = i % 4 == 0 ? 3 : 1;
  const weighted order{weights, {.epoch_size = samples / 2, .replacement = false}};
  CHECK(order.table_bytes() <= 12 * samples);
  std::vector<char> seen(samples, 0);
  std::uint64_t heavy = 0;
  for (const std::uint64_t sample : epoch_of(order, samples, 0)) {
    REQUIRE(seen[sample]++ == 0);
    heavy += sample % 4 == 0 ? 1 : 0;
  }
  // Those of weight 3 have a chance of 1, and half of the epoch.
  CHECK(heavy == samples / 4);
}
