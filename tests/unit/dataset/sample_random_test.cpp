#include <feedline/dataset/sample_random.hpp>

#include "support/checks/catch.hpp"

#include <array>
#include <cstdint>
#include <cstdlib>
#include <random>
#include <set>

using namespace feedline;

TEST_CASE("sample random: its numbers are splitmix64's of a hash of seed, epoch, sample and stream",
          "[random][host]") {
  sample_random random{1, 2, 3};
  // Kept across versions: who stored what came of them finds it again.
  CHECK(random() == 0xa3b361f27ed3fa91U);
  CHECK(random.u32() == 0x693a3c44U);
  CHECK(random.below(1000) == 456U);
  CHECK(random.uniform() == 3310222 * 0x1p-24F);
  CHECK(sample_random{1, 2, 3, 4}() == 0x98c67ea1403482e5U);
}

TEST_CASE("sample random: seed, epoch, sample and stream each give other numbers",
          "[random][host]") {
  std::set<std::uint64_t> first;
  for (std::uint64_t seed = 0; seed < 6; ++seed)
    for (std::uint64_t epoch = 0; epoch < 6; ++epoch)
      for (std::uint64_t sample = 0; sample < 6; ++sample)
        for (std::uint64_t stream = 0; stream < 6; ++stream)
          first.insert(sample_random{seed, epoch, sample, stream}());
  CHECK(first.size() == 6 * 6 * 6 * 6);
}

TEST_CASE("sample random: a draw by its number is the one that comes after as many others",
          "[random][host]") {
  sample_random one{7, 0, 9};
  const sample_random other = one;
  sample_random later = one;
  later.discard(5);
  for (std::uint64_t number = 0; number < 5; ++number) CHECK(one() == other.at(number));
  CHECK(one() == later());
}

TEST_CASE("sample random: bounded numbers are within their bounds, and all of them come",
          "[random][host]") {
  sample_random random{3, 1, 4};
  std::array<int, 7> counts{};
  for (int i = 0; i < 70'000; ++i) ++counts.at(random.below(7));
  for (const int count : counts) CHECK(std::abs(count - 10'000) < 500);  // five deviations
  CHECK(random.below(1) == 0);
  CHECK(random.below(0) == 0);
  // Where a modulo would favour the lower third by half.
  constexpr std::uint64_t bound = std::uint64_t{3} << 62;
  int low = 0;
  for (int i = 0; i < 30'000; ++i) {
    const std::uint64_t drawn = random.below(bound);
    REQUIRE(drawn < bound);
    low += drawn < bound / 3 ? 1 : 0;
  }
  CHECK(std::abs(low - 10'000) < 500);
}

TEST_CASE("sample random: floats are in their interval, and chances have the given probability",
          "[random][host]") {
  sample_random random{3, 1, 5};
  double sum = 0;
  int hits = 0;
  for (int i = 0; i < 10'000; ++i) {
    const float one = random.uniform();
    REQUIRE((one >= 0.0F && one < 1.0F));
    const float scaled = random.uniform(-2.0F, 2.0F);
    REQUIRE((scaled >= -2.0F && scaled <= 2.0F));
    sum += static_cast<double>(one);
    hits += random.chance(0.25) ? 1 : 0;
    REQUIRE_FALSE(random.chance(0.0));
    REQUIRE(random.chance(1.0));
  }
  CHECK(std::abs(sum - 5'000) < 150);
  CHECK(std::abs(hits - 2'500) < 220);
}

TEST_CASE("sample random: the standard's distributions take it", "[random][host]") {
  static_assert(std::uniform_random_bit_generator<sample_random>);
  sample_random random{1, 1, 1};
  const int drawn = std::uniform_int_distribution<int>{1, 6}(random);
  CHECK((drawn >= 1 && drawn <= 6));
}
