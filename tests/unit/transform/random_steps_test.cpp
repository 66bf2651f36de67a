#include "transform/operations/random_steps.hpp"

#include <feedline/error.hpp>

#include "support/checks/catch.hpp"
#include "transform/field_conversions.hpp"
#include "transform/operations/normal.hpp"
#include "transform/operations/operations.hpp"
#include "unit/transform/transformed.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

using namespace feedline;
using namespace feedline::detail;
using namespace feedline::test;

namespace {

constexpr std::uint32_t height = 9;
constexpr std::uint32_t width = 70;

std::vector<std::byte> random_image(std::uint32_t seed) {
  std::mt19937 random{seed};
  std::vector<std::byte> row(std::size_t{height} * width * 3);
  for (std::byte& each : row) each = static_cast<std::byte>(40 + random() % 180);
  return row;
}

}  // namespace

TEST_CASE("random steps: as many images change as the probability says", "[transfer][host]") {
  field_transform transform = plain();
  transform.invert = random_invert{.probability = 0.25};
  const std::vector<std::byte> row = random_image(1);
  const std::vector<float> unchanged = transformed(plain(), row, height, width, 3, 0);
  int inverted = 0;
  for (std::uint32_t bits = 0; bits < 2000; ++bits) {
    const std::vector<float> out = transformed(transform, row, height, width, 3, bits);
    const bool is_inverted = out[0] != unchanged[0];
    inverted += is_inverted ? 1 : 0;
    for (std::size_t i = 0; i < out.size(); ++i)
      if (out[i] != (is_inverted ? 255 - unchanged[i] : unchanged[i])) FAIL("element " << i);
  }
  CHECK(inverted > 400);
  CHECK(inverted < 600);
  transform.invert->probability = 0;
  CHECK_FALSE(convert_fields({{"x", element_type::u8, {8, 6, 3}}}, {transform})
                  .conversions[0]
                  .operations.any);
}

TEST_CASE("random steps: one sharpness after another sees the pixels that the first one made",
          "[transfer][host]") {
  std::mt19937 random{3};
  std::vector<float> image(std::size_t{height} * width);
  for (float& each : image) each = static_cast<float>(random() % 256);
  sample_steps steps{};
  steps.colors.add(step_kind::sharpness, 0.25F, true);
  steps.colors.add(step_kind::brightness, 1.5F, true);
  steps.colors.add(step_kind::sharpness, 2.0F, true);
  std::vector<float> expected = image;
  for (std::uint32_t step = 0; step < 3; ++step) {
    const std::vector<float> before = expected;
    for (std::uint32_t i = 0; i < expected.size(); ++i) {
      const std::uint32_t y = i / width;
      const std::uint32_t x = i % width;
      double value = before[i];
      if (step == 1) {
        value *= 1.5;
      } else if (y > 0 && x > 0 && y + 1 < height && x + 1 < width) {
        double sum = 4 * value;
        for (std::uint32_t near = 0; near < 9; ++near)
          sum += before[(y + near / 3 - 1) * width + x + near % 3 - 1];
        const double factor = step == 0 ? 0.25 : 2;
        value = factor * value + (1 - factor) * std::floor(sum / 13 + 0.5);
      }
      expected[i] = static_cast<float>(std::floor(std::clamp(value, 0.0, 255.0)));
    }
  }
  const auto base = [&](std::uint32_t y, std::uint32_t x) {
    return color{{image[y * width + x], 0, 0}};
  };
  for (std::uint32_t i = 0; i < image.size(); ++i) {
    std::uint32_t channels = 1;
    REQUIRE(sample_point(steps, base, {height, width}, 3, i / width, i % width, channels).of[0] ==
            expected[i]);
  }
}

TEST_CASE("random steps: points of a window are the pixels that lines of it have",
          "[transfer][host]") {
  // Without an operation the window is made by lines; an affine transform that moves nothing takes
  // it point by point.
  const std::vector<std::byte> row = random_image(4);
  field_transform by = plain();
  by.flip = 0.5;
  SECTION("whole") {}
  SECTION("cropped") {
    by.crop = image_crop{.height = 8, .width = 66, .padding = 3};
  }
  SECTION("resized") {
    by.resize = image_resize{.height = 5, .width = 90};
  }
  SECTION("a window, resized") {
    by.resized_crop = random_resized_crop{.height = 7, .width = 33};
  }
  field_transform moved = by;
  moved.affine = random_affine{.interpolation = feedline::interpolation::bilinear};
  for (std::uint32_t bits = 0; bits < 50; ++bits)
    REQUIRE(transformed(by, row, height, width, 3, bits * 977) ==
            transformed(moved, row, height, width, 3, bits * 977));
}

TEST_CASE("random steps: normal numbers have the distribution's integral", "[transfer][host]") {
  double worst = 0;
  for (std::uint64_t bits = 0; bits < std::uint64_t{1} << 32; bits += 65'521) {
    const double share = (static_cast<double>(bits >> 8) + 0.5) / (1 << 24);
    const double value = normal(static_cast<std::uint32_t>(bits));
    const double found = std::erfc(-value / std::sqrt(2.0)) / 2;
    worst = std::max(worst, std::abs(found - share) / std::min(share, 1 - share));
  }
  CHECK(worst < 2e-5);
  CHECK(normal(0) == Approx(-5.4).margin(0.1));
  CHECK(normal(0xFFFF'FFFF) == -normal(0));
}

TEST_CASE("random steps: texts are named, and impossible options are refused", "[transfer][host]") {
  field_transform all = plain();
  all.affine = random_affine{.degrees = {-5, 5}, .fill = 3};
  all.grayscale = random_grayscale{};
  all.invert = random_invert{};
  all.posterize = random_posterize{.bits = 3};
  all.solarize = random_solarize{};
  all.autocontrast = random_autocontrast{};
  all.equalize = random_equalize{.probability = 1};
  all.sharpness = random_adjust_sharpness{.sharpness_factor = 2};
  all.erasing = random_erasing{.noise = true};
  CHECK(to_string(all) ==
        "x: float32, layout hwc, affine degrees -5 to 5 translate 0 0 scale 1 to 1 shear 0 to 0 0 "
        "to 0 fill 3, grayscale 0.1, invert 0.5, posterize 0.5 to 3 bits, solarize 0.5 from 128, "
        "autocontrast 0.5, equalize 1, sharpness 0.5 factor 2, erasing 0.5 scale 0.02 to 0.33 "
        "ratio 0.3 to 3.3 noise");
  CHECK(refusal(all) == "[nothing was thrown]");

  const std::string of_x = "transform of field 'x': ";
  const auto refused = [&](const auto& change) {
    field_transform transform = plain();
    change(transform);
    const std::string message = refusal(transform);
    return message.rfind(of_x, 0) == 0 ? message.substr(of_x.size()) : message;
  };
  CHECK(refused([](auto& of) { of.invert = random_invert{.probability = 2}; }) ==
        "invert.probability is 2: say 0 to 1");
  CHECK(refused([](auto& of) { of.posterize = random_posterize{.bits = 9}; }) ==
        "posterize.bits is 9: say 0 to 8");
  CHECK(refused([](auto& of) { of.solarize = random_solarize{.threshold = 257}; }) ==
        "solarize.threshold is 257: say 0 to 256");
  CHECK(refused([](auto& of) { of.sharpness = random_adjust_sharpness{.sharpness_factor = -1}; }) ==
        "sharpness.sharpness_factor is -1: say 0 to 1000");
  CHECK(refused([](auto& of) {
          of.affine = random_affine{.degrees = {5, 4}};
        }) == "affine.degrees is 5 to 4: say a range within -360 to 360");
  CHECK(refused([](auto& of) {
          of.affine = random_affine{.translate = {1.5, 0}};
        }) == "affine.translate is 1.5: say 0 to 1");
  CHECK(refused([](auto& of) {
          of.affine = random_affine{.shear = {0, 0, 0, 90}};
        }) == "affine.shear is 0 to 90: say a range within -89 to 89");
  CHECK(refused([](auto& of) { of.affine = random_affine{.fill = -1}; }) ==
        "affine.fill is -1: say 0 to 255");
  CHECK(refused([](auto& of) {
          of.affine = random_affine{.interpolation = feedline::interpolation::bicubic};
        }) == "affine.interpolation is bicubic: say nearest or bilinear");
  CHECK(refused([](auto& of) { of.grayscale = random_grayscale{.channels = 2}; }) ==
        "grayscale.channels is 2: say 1 or 3");
  CHECK(refused([](auto& of) { of.grayscale = random_grayscale{.channels = 1}; }) ==
        "grayscale.channels is 1 and grayscale.probability is 0.1: all images of a batch have as "
        "many channels, say 3 channels or probability 1");
  CHECK(refused([](auto& of) { of.erasing = random_erasing{.value = {1}, .noise = true}; }) ==
        "erasing.value and erasing.noise are set: erase by values or by noise");
  field_transform transform = plain();
  transform.equalize = random_equalize{};
  CHECK(refusal(transform, {"x", element_type::f32, {8, 6, 3}}) ==
        of_x +
            "equalize is set and the field is x: float32[8, 6, 3]: colours of uint8 change, in "
            "one channel or three");
  transform = plain();
  transform.grayscale = random_grayscale{};
  CHECK(refusal(transform, {"x", element_type::u8, {8, 6}}) ==
        of_x +
            "grayscale is set and the field is x: uint8[8, 6]: images of three channels, red, "
            "green and blue, become grey");
}
