/// Tests which elements of an axis make up a resized one, and where a resized image is cut.

#include "image/resize/resample_taps.hpp"

#include "image/resize/filter_taps.hpp"
#include "image/resize/geometry.hpp"
#include "support/checks/catch.hpp"

#include <cstdlib>
#include <random>
#include <vector>

using namespace feedline;
using namespace feedline::detail;

TEST_CASE("resample taps: weights sum up and lie within the axis, whatever its length",
          "[dataset][host]") {
  struct axis {
    std::uint32_t from, to, i;
  };
  constexpr std::uint32_t longest = std::uint32_t{1} << 30;
  std::vector<axis> axes{{1, 1, 0},           {1, longest, longest - 1},    {65535, 1, 0},
                         {65535, 65535, 777}, {65535, longest, 12345678},   {65535, 2, 1},
                         {65535, 32769, 0},   {65535, longest, longest - 1}};
  std::mt19937 random{7};
  for (int n = 0; n < 2000; ++n) {
    const auto to = static_cast<std::uint32_t>(1 + random() % 700);
    axes.push_back({static_cast<std::uint32_t>(1 + random() % 700), to,
                    static_cast<std::uint32_t>(random() % to)});
  }
  constexpr std::int32_t one = 1 << resample_taps::weight_bits;
  for (const interpolation filter :
       {interpolation::bilinear, interpolation::bicubic, interpolation::nearest})
    for (const auto& [axis_from, axis_to, i] : axes) {
      const std::uint32_t from = axis_from;
      const std::uint32_t to = axis_to;
      CAPTURE(filter, from, to, i);
      with_taps(filter, from, to, i, [&](auto taps) {
        REQUIRE(taps.count() == tap_count(filter, from, to));
        REQUIRE(taps.first() + taps.count() <= from);
        std::int32_t before = 0;
        std::int32_t absolute = 0;
        for (std::uint32_t tap = 0; tap < taps.count(); ++tap) {
          const std::int32_t after = taps.weight_before(tap + 1);
          if (filter != interpolation::bicubic) REQUIRE(after >= before);
          absolute += std::abs(after - before);
          before = after;
        }
        REQUIRE(before == one);
        REQUIRE(absolute < one * 3 / 2);  // so that sums of both axes fit
      });
    }
}

TEST_CASE("resample taps: a cubic curve over a few elements is written out", "[dataset][host]") {
  const auto weights = [](std::uint32_t from, std::uint32_t to, std::uint32_t i) {
    cubic_taps taps{from, to, i};
    std::vector<int> all{static_cast<int>(taps.first())};
    for (std::uint32_t tap = 0; tap < taps.count(); ++tap) {
      const std::int32_t before = taps.weight_before(tap);
      all.push_back(taps.weight_before(tap + 1) - before);
    }
    return all;
  };
  CHECK(weights(4, 8, 3) == std::vector{0, -1152, 14208, 3712, -384});
  CHECK(weights(3, 3, 2) == std::vector{0, 0, 0, 16384});
  CHECK(weights(1, 5, 4) == std::vector{0, 16384});
}

TEST_CASE("resample taps: a triangle over a few elements is written out", "[dataset][host]") {
  const auto weights = [](std::uint32_t from, std::uint32_t to, std::uint32_t i) {
    const resample_taps taps{from, to, i};
    std::vector<int> all{static_cast<int>(taps.first())};
    for (std::uint32_t tap = 0; tap < taps.count(); ++tap) all.push_back(taps.weight(tap));
    return all;
  };
  CHECK(weights(8, 4, 1) == std::vector{1, 2048, 6144, 6144, 2048});
  CHECK(weights(8, 4, 0) == std::vector{0, 7022, 7021, 2341, 0});
  CHECK(weights(2, 4, 1) == std::vector{0, 12288, 4096});
  CHECK(weights(3, 3, 2) == std::vector{1, 0, 16384});
  CHECK(weights(1, 5, 4) == std::vector{0, 16384});
}

TEST_CASE("image geometry: an image too unequal to be resized has no extents", "[dataset][host]") {
  CHECK(resized_extents({1, 65535}, {4, 4}, 16384) == image_extents{16384, 65535 * 16384});
  CHECK(resized_extents({1, 65535}, {4, 4}, 16385) == image_extents{});
  CHECK(resized_extents({65535, 1}, {4, 4}, 16385) == image_extents{});
  CHECK(resized_extents({375, 500}, {224, 224}, 256) == image_extents{256, 341});
}
