/// The distribution of the windows that `image_options::resized_crop` draws.

#include "image/random_crop.hpp"

#include "support/checks/catch.hpp"
#include "support/checks/sanitized.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <random>

using namespace feedline;
using detail::image_box;
using detail::image_extents;
using detail::random_crop;

namespace {

sample_context in_epoch(std::uint64_t epoch, std::uint64_t sample = 0, std::uint64_t seed = 0) {
  return {.seed = seed, .epoch = epoch, .sample = {sample}, .position = position{sample}};
}

/// The largest window in the middle that a ratio allows.
image_box middle_of(image_extents image, const value_range& ratio) {
  image_box box{0, 0, image};
  const double height = image.height;
  const double width = image.width;
  if (width / height < ratio.low)
    box.extents.height = static_cast<std::uint32_t>(std::lround(width / ratio.low));
  if (width / height > ratio.high)
    box.extents.width = static_cast<std::uint32_t>(std::lround(height * ratio.high));
  box.top = (image.height - box.extents.height) / 2;
  box.left = (image.width - box.extents.width) / 2;
  return box;
}

/// A draw as torchvision documents it, in double precision.
image_box drawn_by_definition(image_extents image, const crop_ranges& ranges,
                              std::mt19937_64& random) {
  const double height = image.height;
  const double width = image.width;
  std::uniform_real_distribution<double> scale{ranges.scale.low, ranges.scale.high};
  std::uniform_real_distribution<double> log_ratio{std::log(ranges.ratio.low),
                                                   std::log(ranges.ratio.high)};
  const auto begin = [&](double rest) {
    return static_cast<std::uint32_t>(
        std::uniform_int_distribution<int>{0, static_cast<int>(rest)}(random));
  };
  for (int i = 0; i < 10; ++i) {
    const double area = height * width * scale(random);
    const double ratio = std::exp(log_ratio(random));
    const double w = std::nearbyint(std::sqrt(area * ratio));
    const double h = std::nearbyint(std::sqrt(area / ratio));
    if (!(0 < w && w <= width && 0 < h && h <= height)) continue;
    const std::uint32_t top = begin(height - h);
    const std::uint32_t left = begin(width - w);
    return {top, left, {static_cast<std::uint32_t>(h), static_cast<std::uint32_t>(w)}};
  }
  return middle_of(image, ranges.ratio);
}

/// Shares of draws in bins of what a window has.
class histogram {
 public:
  static constexpr std::size_t bins = 20;

  void add(const image_box& box, image_extents image, const crop_ranges& ranges) {
    const double height = box.extents.height;
    const double width = box.extents.width;
    const double area = height * width / static_cast<double>(image.pixels());
    count(0, (area - ranges.scale.low) / (ranges.scale.high - ranges.scale.low));
    count(1, std::log(width / height / ranges.ratio.low) /
                 std::log(ranges.ratio.high / ranges.ratio.low));
    count(2, (box.top + 0.5) / (image.height - height + 1));
    count(3, (box.left + 0.5) / (image.width - width + 1));
    count(4, height / image.height);
    count(5, width / image.width);
    ++draws_;
  }
  [[nodiscard]] double share(std::size_t kind, std::size_t bin) const {
    return static_cast<double>(counts_[kind][bin]) / static_cast<double>(draws_);
  }
  static constexpr std::size_t kinds = 6;

 private:
  void count(std::size_t kind, double share) {
    const double bin = std::clamp(share * bins, 0.0, bins - 1.0);
    ++counts_[kind][static_cast<std::size_t>(bin)];
  }
  std::array<std::array<std::uint64_t, bins>, kinds> counts_{};
  std::uint64_t draws_ = 0;
};

}  // namespace

TEST_CASE("resized crop: a million windows are distributed as torchvision documents",
          "[dataset][host]") {
  constexpr std::uint64_t draws = test::sanitized ? 50'000 : 1'000'000;
  struct drawn {
    image_extents image;
    crop_ranges ranges;
  };
  for (const auto& [image, ranges] :
       {drawn{{375, 500}, {}}, drawn{{640, 211}, {.scale = {0.3, 0.6}, .ratio = {0.5, 3}}}}) {
    const random_crop crop{ranges};
    std::mt19937_64 random{1};
    histogram seen;
    histogram expected;
    for (std::uint64_t i = 0; i < draws; ++i) {
      const image_box box = crop.draw(image, in_epoch(i % 7, i / 7, 5));
      const bool is_within = box.top + box.extents.height <= image.height &&
                             box.left + box.extents.width <= image.width &&
                             box.extents.pixels() != 0;
      if (!is_within) FAIL("a window is not within its image");
      seen.add(box, image, ranges);
      expected.add(drawn_by_definition(image, ranges, random), image, ranges);
    }
    for (std::size_t kind = 0; kind < histogram::kinds; ++kind)
      for (std::size_t bin = 0; bin < histogram::bins; ++bin) {
        const double p = expected.share(kind, bin);
        CAPTURE(image.height, kind, bin, p, seen.share(kind, bin));
        CHECK(std::abs(seen.share(kind, bin) - p) <
              5 * std::sqrt(2 * p / static_cast<double>(draws)) + 2e-5);
      }
  }
}

TEST_CASE("resized crop: where no try fits it is torchvision's middle", "[dataset][host]") {
  const random_crop crop{{.scale = {0.9, 1}}};
  for (std::uint64_t epoch = 0; epoch < 50; ++epoch) {
    CHECK(crop.draw({10, 400}, in_epoch(epoch)) == image_box{0, 193, {10, 13}});
    CHECK(crop.draw({400, 10}, in_epoch(epoch)) == image_box{193, 0, {13, 10}});
    CHECK(crop.draw({1, 65535}, in_epoch(epoch)) == image_box{0, 32767, {1, 1}});
  }
  CHECK(random_crop{{.scale = {1, 1}, .ratio = {1, 1}}}.draw({97, 97}, in_epoch(0)) ==
        image_box{0, 0, {97, 97}});
}
