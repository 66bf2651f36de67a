#include "device/sample_random_bits.hpp"

#include "support/checks/catch.hpp"
#include "support/checks/chi_square.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

using namespace feedline::detail;
using feedline::test::deviation;

// Chi-square tests of the draws against independent, equally likely ones. Seeds are fixed, so each
// passes always or never.

namespace {

/// Beyond this no test of fair draws ends, but once in a few thousand.
constexpr double limit = 3.5;

constexpr std::uint64_t samples = 50'000;
constexpr std::array choices{choice::crop_top, choice::crop_left, choice::flip};

/// Where two draws of each sample fall in a square of 12 × 12 cells.
double deviation_of_pairs(const std::function<std::uint32_t(std::uint64_t sample)>& one,
                          const std::function<std::uint32_t(std::uint64_t sample)>& other) {
  constexpr std::uint64_t cells = 12;
  std::vector<std::uint64_t> counts(cells * cells, 0);
  for (std::uint64_t sample = 0; sample < samples; ++sample)
    ++counts[(one(sample) * cells >> 32) * cells + (other(sample) * cells >> 32)];
  return deviation(counts);
}

}  // namespace

TEST_CASE("random bits: samples are flipped as often as the probability says", "[device][host]") {
  for (const double probability : {0.5, 0.1, 0.01, 0.9}) {
    const auto below = static_cast<std::uint64_t>(std::llround(probability * 0x1p32));
    std::uint64_t flipped = 0;
    for (std::uint64_t sample = 0; sample < samples; ++sample)
      flipped += draw(sample_random_bits(3, 8, sample), choice::flip) < below ? 1U : 0U;
    const double n = static_cast<double>(samples);
    const double spread = std::sqrt(n * probability * (1 - probability));
    INFO("probability " << probability << ", flipped " << flipped);
    CHECK(std::abs(static_cast<double>(flipped) - n * probability) < limit * spread);
  }
}

TEST_CASE("random bits: every position of a crop is equally likely, down and across together",
          "[device][host]") {
  for (const std::uint32_t places : {2U, 9U, 33U}) {
    std::vector<std::uint64_t> counts(std::size_t{places} * places, 0);
    for (std::uint64_t sample = 0; sample < samples; ++sample) {
      const auto random_bits = sample_random_bits(11, 0, sample);
      ++counts[draw_below(random_bits, choice::crop_top, places) * std::size_t{places} +
               draw_below(random_bits, choice::crop_left, places)];
    }
    INFO("places " << places);
    CHECK(std::abs(deviation(counts)) < limit);
  }
}

TEST_CASE("random bits: one of a sample's choices says nothing of another", "[device][host]") {
  for (std::size_t i = 0; i < choices.size(); ++i)
    for (std::size_t j = i + 1; j < choices.size(); ++j)
      CHECK(std::abs(deviation_of_pairs(
                [&](std::uint64_t s) { return draw(sample_random_bits(5, 1, s), choices[i]); },
                [&](std::uint64_t s) { return draw(sample_random_bits(5, 1, s), choices[j]); })) <
            limit);
}

TEST_CASE("random bits: a sample's choice in one epoch says nothing of that in another",
          "[device][host]") {
  for (const choice of : choices)
    for (const std::uint64_t later : {1U, 2U, 7U, 256U})
      CHECK(std::abs(deviation_of_pairs(
                [&](std::uint64_t s) { return draw(sample_random_bits(5, 0, s), of); },
                [&](std::uint64_t s) { return draw(sample_random_bits(5, later, s), of); })) <
            limit);
}

TEST_CASE("random bits: a sample's choice says nothing of its neighbours'", "[device][host]") {
  for (const choice of : choices)
    for (const std::uint64_t distance : {1U, 2U, 64U, 256U})
      CHECK(std::abs(deviation_of_pairs(
                [&](std::uint64_t s) { return draw(sample_random_bits(5, 3, s), of); },
                [&](std::uint64_t s) {
                  return draw(sample_random_bits(5, 3, s + distance), of);
                })) < limit);
}

TEST_CASE("random bits: neighbouring seeds choose alike no more than any two", "[device][host]") {
  for (const choice of : choices)
    CHECK(std::abs(deviation_of_pairs(
              [&](std::uint64_t s) { return draw(sample_random_bits(0, 0, s), of); },
              [&](std::uint64_t s) { return draw(sample_random_bits(1, 0, s), of); })) < limit);
  // Neither does a seed that equals an epoch or sample: the three are not just added up.
  CHECK(std::abs(deviation_of_pairs(
            [](std::uint64_t s) { return draw(sample_random_bits(0, s, 0), choice::flip); },
            [](std::uint64_t s) { return draw(sample_random_bits(0, 0, s), choice::flip); })) <
        limit);
  CHECK(std::abs(deviation_of_pairs(
            [](std::uint64_t s) { return draw(sample_random_bits(s, 0, 0), choice::flip); },
            [](std::uint64_t s) { return draw(sample_random_bits(0, s, 0), choice::flip); })) <
        limit);
}

TEST_CASE("random bits: a draw below a bound is below it, and reaches both ends",
          "[device][host]") {
  for (const std::uint32_t bound : {1U, 2U, 3U, 1000U, UINT32_MAX}) {
    std::uint32_t least = UINT32_MAX;
    std::uint32_t most = 0;
    for (std::uint64_t sample = 0; sample < samples; ++sample) {
      const auto drawn = draw_below(sample_random_bits(1, 1, sample), choice::crop_left, bound);
      least = std::min(least, drawn);
      most = std::max(most, drawn);
    }
    INFO("bound " << bound);
    CHECK(most < bound);
    CHECK(least <= bound / 1000);
    CHECK(most >= bound - 1 - bound / 1000);
  }
}

// Variations are stable across versions of feedline, platforms, compilers and devices: a run can be
// resumed or compared years later. If this test fails, the current change breaks that promise; undo
// it rather than edit the numbers.
TEST_CASE("random bits: a (seed, epoch, sample) draws the same bits in every version",
          "[device][host]") {
  struct pinned {
    std::uint64_t seed, epoch, sample;
    std::uint32_t random_bits, crop_top, crop_left, flip;
  };
  constexpr std::array<pinned, 7> known{{
      {0, 0, 0, 0x33FE'8BD4, 0x926E'C462, 0x5858'C85F, 0x434D'DE6E},
      {0, 0, 1, 0x568A'9B0B, 0x7B1E'C48E, 0x5DE4'5CE0, 0x4FF1'2D32},
      {0, 1, 0, 0xB49A'B477, 0x4578'DFF2, 0x268A'F58A, 0x5BA6'9EE6},
      {1, 0, 0, 0x0A38'5EF2, 0x6C04'6E06, 0xE4EB'02A2, 0x8AA5'D9A3},
      {42, 7, 59'999, 0x0C37'C1CF, 0x6792'87B1, 0x49BA'4084, 0xE720'9ECC},
      {UINT64_MAX, UINT64_MAX, UINT64_MAX, 0x7CCD'8063, 0x2512'1A22, 0x0C42'6D34, 0x4764'9081},
      {12'345'678'901'234'567'890U, 3, 1ULL << 40, 0x273C'0A26, 0x4F93'375D, 0x3615'3727,
       0x55D5'3EFE},
  }};
  for (const pinned& each : known) {
    INFO("seed " << each.seed << ", epoch " << each.epoch << ", sample " << each.sample);
    const auto random_bits = sample_random_bits(each.seed, each.epoch, each.sample);
    CHECK(random_bits == each.random_bits);
    CHECK(draw(random_bits, choice::crop_top) == each.crop_top);
    CHECK(draw(random_bits, choice::crop_left) == each.crop_left);
    CHECK(draw(random_bits, choice::flip) == each.flip);
  }
  CHECK(draw_below(0xDEAD'BEEF, choice::crop_top, 1) == 0);
  CHECK(draw_below(0xDEAD'BEEF, choice::crop_top, 9) == 7);
  CHECK(draw_below(0xDEAD'BEEF, choice::crop_top, 33) == 27);
  CHECK(draw_below(0xDEAD'BEEF, choice::crop_top, UINT32_MAX) == 3'553'530'006U);
}
