#include "device/sample_mix.hpp"

#include "support/checks/catch.hpp"
#include "support/checks/chi_square.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

using namespace feedline;
using namespace feedline::detail;
using feedline::test::deviation;

namespace {

constexpr std::uint64_t always = std::uint64_t{1} << 32;
constexpr std::uint32_t sample_count = 100'000;

/// Calls `use` for this many samples, in epoch 3 of a run.
template <class Use>
void for_each_sample(Use use, std::uint32_t samples = sample_count) {
  for (std::uint32_t sample = 0; sample < samples; ++sample) use(sample_random_bits(11, 3, sample));
}

pair_mixing cutting(std::uint32_t height, std::uint32_t width, float alpha = 1.0F) {
  pair_mixing by;
  by.image = 0;
  by.height = height;
  by.width = width;
  by.mixed_below = by.cut_below = always;
  by.inverse_cutmix_alpha = 1.0F / alpha;
  return by;
}

/// The chance that a draw from Beta(alpha, alpha) is below `to`, by the midpoint rule over angles:
/// with x = sin², the density's poles at 0 and 1 go, for an alpha of a half or more.
double chance_below(double to, double alpha) {
  constexpr int steps = 20'000;
  const auto integral = [&](double end) {
    double sum = 0;
    for (int i = 0; i < steps; ++i) {
      const double angle = end * (i + 0.5) / steps;
      sum += std::pow(std::sin(angle) * std::cos(angle), 2 * alpha - 1) * end / steps;
    }
    return sum;
  };
  return integral(std::asin(std::sqrt(to))) / integral(std::asin(1.0));
}

}  // namespace

TEST_CASE("sample mix: weights have the mean and the variance of Beta(alpha, alpha)",
          "[device][host]") {
  const float alpha = GENERATE(0.001F, 0.1F, 0.2F, 0.5F, 1.0F, 2.0F, 8.0F, 100.0F, 1000.0F);
  CAPTURE(alpha);
  double sum = 0;
  double squares = 0;
  std::uint32_t outside = 0;
  for_each_sample([&](std::uint32_t random_bits) {
    const double weight = beta_draw(1.0F / alpha, random_bits);
    if (!(weight >= 0 && weight <= 1)) ++outside;
    sum += weight;
    squares += weight * weight;
  });
  CHECK(outside == 0);
  const double mean = sum / sample_count;
  const double variance = 1 / (4 * (2.0 * alpha + 1));
  CHECK(std::abs(mean - 0.5) < 4 * std::sqrt(variance / sample_count));
  CHECK(squares / sample_count - mean * mean == Approx(variance).epsilon(0.02));
}

TEST_CASE("sample mix: weights fill the cells that Beta(alpha, alpha) gives them",
          "[device][host]") {
  const double alpha = GENERATE(0.5, 0.8, 1.0, 1.5, 4.0, 20.0);
  CAPTURE(alpha);
  constexpr std::size_t cells = 25;
  std::vector<std::uint64_t> counts(cells);
  for_each_sample([&](std::uint32_t random_bits) {
    const float weight = beta_draw(static_cast<float>(1 / alpha), random_bits);
    ++counts[std::min(static_cast<std::size_t>(weight * cells), cells - 1)];
  });
  std::vector<double> shares;
  for (std::size_t i = 0; i < cells; ++i)
    shares.push_back(chance_below((static_cast<double>(i) + 1) / cells, alpha) -
                     chance_below(static_cast<double>(i) / cells, alpha));
  CHECK(deviation(counts, shares) < 4);
}

TEST_CASE("sample mix: a logarithm and a cosine of a draw are exact to a float's precision",
          "[device][host]") {
  for (std::uint64_t wide = 0; wide < always; wide += 65'521) {
    const auto drawn = static_cast<std::uint32_t>(wide);
    const double share = static_cast<double>(drawn | 1U) / 4294967296.0;
    REQUIRE(std::abs(log2_of_draw(drawn) - std::log2(share)) < 1e-6);
    const double quarter = static_cast<double>(drawn & 0x7FFF'FFFFU) / 2147483648.0;
    const double cosine = std::cos(std::acos(0.0) * quarter) * (drawn >> 31 != 0 ? -1 : 1);
    REQUIRE(std::abs(cosine_of_draw(drawn) - cosine) < 1e-6);
  }
  CHECK(log2_of_draw(0) == -32.0F);
  CHECK(log2_of_draw(0xFFFF'FFFF) == 0.0F);
}

TEST_CASE("sample mix: draws are the same on every platform, and in every version",
          "[device][host]") {
  const std::array<std::uint32_t, 4> random_bits{0, 1, 0x8000'0000, 0xDEAD'BEEF};
  std::vector<std::uint32_t> weights;
  for (const std::uint32_t each : random_bits) {
    weights.push_back(std::bit_cast<std::uint32_t>(beta_draw(5.0F, each)));
    weights.push_back(std::bit_cast<std::uint32_t>(beta_draw(1.0F, each)));
  }
  CHECK(weights == std::vector<std::uint32_t>{0x3ABE'A100, 0x3DCB'81A0, 0x3ECC'3767, 0x3EE8'FB0D,
                                              0x3420'0000, 0x3C90'BD50, 0x3E84'E0F6, 0x3ED1'76B0});
  const sample_mix cut = mix_of(cutting(224, 200), 0xDEAD'BEEF);
  CHECK(std::vector{cut.box.top, cut.box.left, cut.box.height, cut.box.width} ==
        std::vector<std::uint32_t>{0, 73, 105, 127});
}

TEST_CASE("sample mix: a box has its weight's share of the image, about a point within",
          "[device][host]") {
  const std::uint32_t height = GENERATE(1U, 7U, 32U, 224U);
  const std::uint32_t width = GENERATE(1U, 5U, 32U, 333U);
  CAPTURE(height, width);
  const pair_mixing by = cutting(height, width);
  for_each_sample(
      [&](std::uint32_t random_bits) {
        const sample_mix mix = mix_of(by, random_bits);
        const double weight = beta_draw(1.0F, random_bits);
        const image_part& box = mix.box;
        REQUIRE(mix.cuts() == (box.width != 0));
        REQUIRE(mix.cuts() == mix.changes());
        if (!mix.cuts()) return;
        REQUIRE(box.top + box.height <= height);
        REQUIRE(box.left + box.width <= width);
        // Twice the half of a side, each cut to a whole number, or less where the image ends.
        const double side = std::sqrt(1 - weight);
        REQUIRE(box.height <= 2 * std::floor(side * height / 2 + 1e-4));
        REQUIRE(box.width <= 2 * std::floor(side * width / 2 + 1e-4));
        const bool whole_height = box.top != 0 && box.top + box.height != height;
        if (whole_height) REQUIRE(box.height + 2 > side * height - 1e-4);
        const double share =
            static_cast<double>(box.height) * box.width / (static_cast<double>(height) * width);
        REQUIRE(std::abs(mix.own - (1 - share)) < 1e-6);
      },
      5'000);
}

TEST_CASE("sample mix: boxes lie about points that are anywhere alike", "[device][host]") {
  // An alpha so large that all boxes have the same size: half of the sides' square root of a half.
  const pair_mixing by = cutting(10, 10, 1000);
  std::vector<std::uint64_t> tops(10);
  for_each_sample([&](std::uint32_t random_bits) {
    const sample_mix mix = mix_of(by, random_bits);
    REQUIRE(mix.cuts());
    ++tops[mix.box.top];
  });
  // Around lines 0 to 3 it begins at the top; around later lines, one line further each.
  CHECK(deviation(tops, {4, 1, 1, 1, 1, 1, 1, 0, 0, 0}) < 4);
}

TEST_CASE("sample mix: as many samples are mixed, and of them cut, as is asked for",
          "[device][host]") {
  pair_mixing by = cutting(32, 32, 1000);
  by.inverse_mixup_alpha = 1.0F / 1000;
  by.mixed_below = always / 4;
  by.cut_below = always / 8;
  std::uint64_t mixed = 0;
  std::uint64_t cut = 0;
  for_each_sample([&](std::uint32_t random_bits) {
    const sample_mix mix = mix_of(by, random_bits);
    if (mix.changes()) ++mixed;
    if (mix.cuts()) ++cut;
  });
  constexpr std::uint64_t count = sample_count;
  CHECK(deviation({mixed, count - mixed}, {1, 3}) < 4);
  CHECK(deviation({cut, mixed - cut}, {1, 7}) < 4);
  by.mixed_below = 0;
  for_each_sample([&](std::uint32_t random_bits) { REQUIRE(!mix_of(by, random_bits).changes()); });
}

TEST_CASE("sample mix: kind, weight and position are drawn independently", "[device][host]") {
  pair_mixing by = cutting(64, 64);
  by.mixed_below = by.cut_below = always / 2;
  // Counts for weights below one half and above: samples that are mixed, and those that would be
  // cut.
  std::vector<std::uint64_t> cells(8);
  for_each_sample([&](std::uint32_t random_bits) {
    const bool light = beta_draw(1.0F, random_bits) < 0.5F;
    const bool high = draw_below(random_bits, box_row_draw, 64) < 32;
    const bool cut = draw(random_bits, cut_draw) < by.cut_below;
    ++cells[(light ? 4 : 0) + (high ? 2 : 0) + (cut ? 1 : 0)];
  });
  CHECK(deviation(cells) < 4);
}
