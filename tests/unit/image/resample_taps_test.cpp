/// Tests which elements of an axis make up a resized one, and where a resized image is cut.

#include "image/resample_taps.hpp"

#include "image/geometry.hpp"
#include "support/checks/catch.hpp"

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
  for (const auto& [from, to, i] : axes) {
    const resample_taps taps{from, to, i};
    CAPTURE(from, to, i);
    REQUIRE(taps.count() == resample_taps::count_of(from, to));
    REQUIRE(taps.first() + taps.count() <= from);
    std::int32_t sum = 0;
    for (std::uint32_t tap = 0; tap < taps.count(); ++tap) {
      REQUIRE(taps.weight(tap) >= 0);
      sum += taps.weight(tap);
    }
    REQUIRE(sum == 1 << resample_taps::weight_bits);
    REQUIRE(taps.weight_before(taps.count()) == sum);
  }
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
