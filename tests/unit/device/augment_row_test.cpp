#include "device/transform_row.hpp"
#include "support/checks/catch.hpp"
#include "support/devices/random_conversion.hpp"
#include "transform/operations/operations.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <set>
#include <vector>

using namespace feedline;
using namespace feedline::detail;

namespace {

using bytes = std::vector<std::byte>;
using jitter = color_jitter_operation;
using erasing = random_erasing_operation;
constexpr std::uint64_t always = std::uint64_t{1} << 32;

std::vector<float> augmented(const field_conversion& conversion, const bytes& row,
                             std::uint32_t random_bits) {
  std::vector<float> out(test::to_row_bytes_of(conversion, row.size()) / sizeof(float));
  transform_row(conversion, row.data(), row.size(), random_bits,
                reinterpret_cast<std::byte*>(out.data()));
  return out;
}

/// An image of bytes that is not moved.
field_conversion image_of(std::uint32_t channels, std::uint32_t height, std::uint32_t width) {
  field_conversion conversion;
  conversion.what = field_conversion::operation::convert;
  conversion.to = element_type::f32;
  conversion.channels = channels;
  conversion.channels_last = conversion.to_channels_last = true;
  conversion.height = conversion.to_height = height;
  conversion.width = conversion.to_width = width;
  conversion.scale[0] = 1.0F;
  return conversion;
}

bytes random_image(const field_conversion& conversion, std::mt19937& random) {
  bytes row(test::row_bytes_of(conversion, 0));
  for (std::byte& each : row) each = static_cast<std::byte>(random());
  return row;
}

using rgb = std::array<double, 3>;

double grey(const rgb& of) {
  return 0.2989 * of[0] + 0.587 * of[1] + 0.114 * of[2];
}
rgb mixed(const rgb& of, double other, double factor) {
  rgb result{};
  for (std::size_t c = 0; c < 3; ++c)
    result[c] = std::clamp(factor * of[c] + (1 - factor) * other, 0.0, 255.0);
  return result;
}

/// Computes the same as torchvision's _rgb2hsv and _hsv2rgb.
rgb turned(const rgb& of, double by) {
  const double most = std::max({of[0], of[1], of[2]});
  const double spread = most - std::min({of[0], of[1], of[2]});
  if (spread == 0) return of;
  const double saturation = spread / most;
  double hue = most == of[0]   ? (of[1] - of[2]) / spread
               : most == of[1] ? 2 + (of[2] - of[0]) / spread
                               : 4 + (of[0] - of[1]) / spread;
  hue = hue / 6 + by;
  hue = 6 * (hue - std::floor(hue));
  const double rest = hue - std::floor(hue);
  const double p = most * (1 - saturation);
  const double q = most * (1 - saturation * rest);
  const double t = most * (1 - saturation * (1 - rest));
  const std::array<rgb, 6> sixths{
      {{most, t, p}, {q, most, p}, {p, most, t}, {p, q, most}, {t, p, most}, {most, p, q}}};
  return sixths[static_cast<std::size_t>(hue) % 6];
}

}  // namespace

TEST_CASE("augment row: without a change of colour it is the crop and flip of other conversions",
          "[device][host]") {
  std::mt19937 random{3};
  int seen = 0;
  while (seen < 300) {
    field_conversion plain = test::random_conversion(random);
    if (plain.what != field_conversion::operation::convert || is_whole(plain.to)) continue;
    ++seen;
    const bytes row = test::random_row(plain, random);
    const auto random_bits = static_cast<std::uint32_t>(random());
    INFO(test::describe(plain));
    const auto transformed = [&](const field_conversion& by) {
      bytes out(test::to_row_bytes_of(by, 0));
      transform_row(by, row.data(), row.size(), random_bits, out.data());
      return out;
    };
    field_conversion erased = plain;
    operations::enable<erasing>(erased.operations, {.below = 1});  // and then in one draw of 2^32
    REQUIRE(transformed(erased) == transformed(plain));
    if (plain.from != element_type::u8 || (plain.channels != 1 && plain.channels != 3)) continue;
    field_conversion jittered = plain;
    operations::enable<jitter>(jittered.operations, {});
    REQUIRE(transformed(jittered) == transformed(plain));
  }
}

TEST_CASE("augment row: colours change as torchvision's do, in any of the 24 orders",
          "[device][host]") {
  std::mt19937 random{8};
  const bool resizes = GENERATE(false, true);
  std::set<int> orders;
  for (std::uint32_t random_bits = 0; random_bits < 200; ++random_bits) {
    int order = 0;
    field_conversion by = image_of(3, 7, 70);
    by.flip_below = always / 2;
    field_conversion plain = by;
    const jitter::parameters parameters{{0.6, 1.4}, {0.5, 1.5}, {0.0, 2.0}, {-0.5, 0.5}};
    operations::enable<jitter>(by.operations, parameters);
    if (resizes) {
      by.resizes = plain.resizes = true;
      by.to_height = plain.to_height = 9;
      by.to_width = plain.to_width = 33;
    }
    const bytes row = random_image(by, random);
    const std::vector<float> from = augmented(plain, row, random_bits);
    const std::vector<float> out = augmented(by, row, random_bits);
    sample_steps steps{};
    jitter::add_steps(parameters, {}, random_bits, steps);
    REQUIRE(steps.colors.count == 4);
    std::vector<rgb> pixels;
    for (std::size_t i = 0; i < from.size(); i += 3)
      pixels.push_back({from[i], from[i + 1], from[i + 2]});
    for (const color_step* step = steps.colors.at; step < steps.colors.at + 4; ++step) {
      double mean = 0;
      for (const rgb& pixel : pixels) mean += grey(pixel) / static_cast<double>(pixels.size());
      for (rgb& pixel : pixels) {
        const double factor = step->value;
        pixel = step->kind == step_kind::brightness   ? mixed(pixel, 0, factor)
                : step->kind == step_kind::contrast   ? mixed(pixel, mean, factor)
                : step->kind == step_kind::saturation ? mixed(pixel, grey(pixel), factor)
                                                      : turned(pixel, factor);
      }
      order = order * 4 + static_cast<int>(step->kind);
    }
    orders.insert(order);
    double worst = 0;
    for (std::size_t i = 0; i < pixels.size(); ++i)
      for (std::size_t c = 0; c < 3; ++c)
        worst = std::max(worst, std::abs(double{out[3 * i + c]} - pixels[i][c]));
    REQUIRE(worst < 0.01);
  }
  CHECK(orders.size() == 24);  // all permutations
}

TEST_CASE("augment row: a colour's factors are drawn between their bounds", "[device][host]") {
  field_conversion by = image_of(1, 1, 1);
  operations::enable<jitter>(by.operations, {.brightness = {0.5, 1.5}});
  float least = 255;
  float most = 0;
  for (std::uint32_t bits = 0; bits < 1000; ++bits) {
    const float value = augmented(by, {std::byte{100}}, bits)[0];
    least = std::min(least, value);
    most = std::max(most, value);
  }
  CHECK(least >= 50);
  CHECK(least < 51);
  CHECK(most <= 150);
  CHECK(most > 149);
  operations::enable<jitter>(by.operations, {.brightness = {3, 3}});
  CHECK(augmented(by, {std::byte{100}}, 0)[0] == 255);
  // Grey has a contrast with its mean, and neither saturation nor hue.
  by = image_of(1, 1, 2);
  operations::enable<jitter>(by.operations,
                             {.contrast = {0.5, 0.5}, .saturation = {0, 0}, .hue = {0.5, 0.5}});
  CHECK(augmented(by, {std::byte{100}, std::byte{200}}, 0) == std::vector<float>{125, 175});
}

TEST_CASE("augment row: a rectangle is erased, of the area and ratio that are asked for",
          "[device][host]") {
  field_conversion by = image_of(2, 60, 80);
  by.flip_below = always / 2;
  const erasing::parameters parameters{.below = always / 4,
                                       .area = {0.1, 0.3},
                                       .log_ratio = {-1, 1},
                                       .per_channel = true,
                                       .value = {-7.0F, -9.0F}};
  operations::enable<erasing>(by.operations, parameters);
  const bytes row(test::row_bytes_of(by, 0), std::byte{5});
  int erased = 0;
  for (std::uint32_t random_bits = 0; random_bits < 2000; ++random_bits) {
    const image_part part = erasing::draw(parameters, {60, 80}, random_bits).part;
    const std::vector<float> out = augmented(by, row, random_bits);
    bool same = true;
    for (std::uint32_t i = 0; i < 4800; ++i) {
      const std::uint32_t y = i / 80;
      const std::uint32_t x = i % 80;
      const bool inside = y >= part.top && y < part.top + part.height && x >= part.left &&
                          x < part.left + part.width;
      same = same && out[2 * i] == (inside ? -7.0F : 5.0F) &&
             out[2 * i + 1] == (inside ? -9.0F : 5.0F);
    }
    REQUIRE(same);
    if (part.height == 0) continue;
    ++erased;
    const double area = part.height * part.width / 4800.0;
    REQUIRE(area > 0.09);
    REQUIRE(area < 0.32);
    const double ratio = 1.0 * part.width / part.height;
    REQUIRE(ratio > 0.45);
    REQUIRE(ratio < 2.2);
    REQUIRE(part.top + part.height <= 60);
    REQUIRE(part.left + part.width <= 80);
  }
  CHECK(erased > 400);
  CHECK(erased < 600);
}

TEST_CASE("augment row: an image of one line has nothing that could be erased", "[device][host]") {
  field_conversion by = image_of(1, 1, 80);
  operations::enable<erasing>(by.operations, {.below = always, .area = {0.1, 0.3}});
  CHECK(augmented(by, bytes(80, std::byte{5}), 3) == std::vector<float>(80, 5.0F));
}
