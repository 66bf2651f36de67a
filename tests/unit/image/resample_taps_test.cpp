/// The functions that kernels resize with, on the host: they give the resampler's bits.

#include "image/resample_taps.hpp"

#include "image/resampler.hpp"
#include "support/checks/catch.hpp"
#include "support/files/image_bytes.hpp"

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

using namespace feedline;
using namespace feedline::detail;

namespace {

std::vector<std::uint8_t> by_pixels(const test::pixels& from, const resample_window& window) {
  std::vector<std::uint8_t> out;
  for (std::uint32_t y = 0; y < window.extents.height; ++y)
    for (std::uint32_t x = 0; x < window.extents.width; ++x) {
      const resample_taps rows{from.height, window.resized.height, window.top + y};
      const resample_taps columns{from.width, window.resized.width, window.left + x};
      const std::size_t row_bytes = std::size_t{3} * from.width;
      std::uint8_t pixel[3];
      resample_pixel(
          {from.values.data() + rows.first() * row_bytes + std::size_t{3} * columns.first(),
           row_bytes, rows.count(), columns.count()},
          [&](std::uint32_t tap) { return rows.weight(tap); },
          [&](std::uint32_t tap) { return columns.weight(tap); }, pixel);
      out.insert(out.end(), pixel, pixel + 3);
    }
  return out;
}

std::vector<std::uint8_t> by_resampler(const test::pixels& from, const resample_window& window) {
  rgb_image image;
  image.resize({from.height, from.width});
  std::copy(from.values.begin(), from.values.end(), image.data());
  std::vector<std::uint8_t> out(window.extents.pixels() * 3);
  resampler{}.resize(image, window, image_layout::hwc, std::as_writable_bytes(std::span{out}));
  return out;
}

}  // namespace

TEST_CASE("resample taps: a pixel alone is what the resampler makes of the whole image",
          "[dataset][host]") {
  std::mt19937 random{5};
  const auto side = [&](std::uint32_t most) {
    return 1 + static_cast<std::uint32_t>(random() % most);
  };
  for (int i = 0; i < 150; ++i) {
    const image_extents from{side(90), side(90)};
    const image_extents wanted{side(60), side(60)};
    const std::uint32_t shorter = std::max(wanted.height, wanted.width) + side(9);
    const auto whole = resized_extents(from, wanted, i % 2 == 0 ? 0 : shorter);
    const auto window = middle_window(whole, wanted);
    const auto image = test::paint(from.height, from.width, 3, static_cast<std::uint32_t>(i));
    CAPTURE(from.height, from.width, wanted.height, wanted.width, whole.height, whole.width);
    REQUIRE(by_pixels(image, window) == by_resampler(image, window));
  }
}

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
