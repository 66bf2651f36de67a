#include "detail/image_side.hpp"
#include "detail/rounded.hpp"
#include "device/resize_taps.hpp"
#include "device/sample_random_bits.hpp"
#include "device/source_window.hpp"
#include "device/transform_row.hpp"
#include "support/checks/catch.hpp"
#include "support/devices/random_conversion.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

using namespace feedline;
using namespace feedline::detail;

namespace {

using bytes = std::vector<std::byte>;

field_conversion resize_of(std::uint32_t height, std::uint32_t width, std::uint32_t to_height,
                           std::uint32_t to_width) {
  field_conversion conversion;
  conversion.what = field_conversion::operation::convert;
  conversion.to = element_type::f32;
  conversion.height = height;
  conversion.width = width;
  conversion.to_height = to_height;
  conversion.to_width = to_width;
  conversion.scale[0] = 1.0F;
  conversion.resizes = true;
  return conversion;
}

void draw_windows(field_conversion& to, value_range area, value_range log_ratio) {
  to.random_window = true;
  to.area = area;
  to.log_ratio = log_ratio;
  to.else_height = std::max(1U, to.height / 2);
  to.else_width = std::max(1U, to.width / 3);
}

std::vector<float> resized(const field_conversion& conversion, const bytes& row,
                           std::uint32_t random_bits = 0) {
  std::vector<float> out(test::to_row_bytes_of(conversion, row.size()) / sizeof(float));
  transform_row(conversion, row.data(), row.size(), random_bits,
                reinterpret_cast<std::byte*>(out.data()));
  return out;
}

bytes random_bytes(std::size_t size, std::mt19937& random) {
  bytes row(size);
  for (std::byte& each : row) each = static_cast<std::byte>(random());
  return row;
}

std::size_t place_of(bool channels_last, std::size_t channels, std::size_t height,
                     std::size_t width, std::size_t c, std::size_t y, std::size_t x) {
  return channels_last ? (y * width + x) * channels + c : (c * height + y) * width + x;
}

/// A weight of PIL's and torchvision's antialiased bilinear resize, not normalized.
double triangle(std::size_t tap, std::size_t i, double from, double to) {
  const double scale = from / to;
  const double centre = (static_cast<double>(i) + 0.5) * scale;
  return std::max(0.0,
                  1.0 - std::abs(static_cast<double>(tap) + 0.5 - centre) / std::max(scale, 1.0));
}

/// A pixel by the definition, in doubles.
double exact(const field_conversion& by, const image_part& window, const bytes& row, std::size_t c,
             std::size_t y, std::size_t x) {
  double weights = 0;
  double total = 0;
  for (std::size_t line = 0; line < window.height; ++line)
    for (std::size_t column = 0; column < window.width; ++column) {
      const double weight = triangle(line, y, window.height, by.to_height) *
                            triangle(column, x, window.width, by.to_width);
      weights += weight;
      total += weight *
               std::to_integer<int>(row[place_of(by.channels_last, by.channels, by.height, by.width,
                                                 c, window.top + line, window.left + column)]);
    }
  return total / weights;
}

/// Images of bytes of any layout, resized from any window.
field_conversion any_resize(std::mt19937& random) {
  const auto between = [&](std::uint32_t least, std::uint32_t most) {
    return least + static_cast<std::uint32_t>(random()) % (most - least + 1);
  };
  const bool wide = between(1, 4) == 1;
  field_conversion conversion = resize_of(between(1, wide ? 4 : 30), between(1, wide ? 300 : 30),
                                          between(1, wide ? 4 : 40), between(1, wide ? 200 : 40));
  conversion.channels = between(1, 4);
  conversion.channels_last = between(0, 1) == 1;
  conversion.to_channels_last = between(0, 1) == 1;
  if (between(0, 1) == 1) conversion.flip_below = std::uint64_t{1} << 31;
  if (between(0, 2) != 0) draw_windows(conversion, {0.08, 1.0}, {-0.415, 0.415});
  return conversion;
}

}  // namespace

TEST_CASE("resize: a pixel is the mean of its source under a triangle", "[device][host]") {
  // From 4 to 2 elements, a triangle covers two elements on each side: weights 3/4, 3/4 and 1/4 of
  // a total of 7/4.
  const bytes row{std::byte{10}, std::byte{20}, std::byte{40}, std::byte{80}};
  CHECK(resized(resize_of(1, 4, 1, 2), row) ==
        std::vector<float>{(30.0F + 60.0F + 40.0F) / 7.0F, (20.0F + 120.0F + 240.0F) / 7.0F});
  CHECK(resized(resize_of(4, 1, 2, 1), row) ==
        std::vector<float>{(30.0F + 60.0F + 40.0F) / 7.0F, (20.0F + 120.0F + 240.0F) / 7.0F});
  // Enlarged: the nearest two, by their distances, and the edge beyond the edge.
  CHECK(resized(resize_of(1, 2, 1, 4), {std::byte{0}, std::byte{8}}) ==
        std::vector<float>{0, 2, 6, 8});
}

TEST_CASE("resize: any window becomes the definition's values, at the layout's positions",
          "[device][host]") {
  const std::uint32_t seed = GENERATE(1U, 2U, 3U);
  std::mt19937 random{seed};
  for (int round = 0; round < 100; ++round) {
    const field_conversion by = any_resize(random);
    const bytes row = random_bytes(test::row_bytes_of(by, 0), random);
    const auto random_bits = static_cast<std::uint32_t>(random());
    INFO("seed " << seed << ", round " << round << ": " << test::describe(by));
    const std::vector<float> out = resized(by, row, random_bits);
    const image_part window = source_window_of(by, random_bits);
    const bool flipped = draw(random_bits, choice::flip) < by.flip_below;
    double worst = 0;
    for (std::size_t c = 0; c < by.channels; ++c)
      for (std::size_t y = 0; y < by.to_height; ++y)
        for (std::size_t x = 0; x < by.to_width; ++x) {
          const std::size_t at =
              place_of(by.to_channels_last, by.channels, by.to_height, by.to_width, c, y, x);
          const double expected = exact(by, window, row, c, y, flipped ? by.to_width - 1 - x : x);
          worst = std::max(worst, std::abs(static_cast<double>(out[at]) - expected));
        }
    REQUIRE(worst < 1e-4);
  }
}

TEST_CASE("resize: the pixel that a kernel computes is the host's, bit for bit", "[device][host]") {
  std::mt19937 random{11};
  for (int round = 0; round < 200; ++round) {
    const field_conversion by = any_resize(random);
    const bytes row = random_bytes(test::row_bytes_of(by, 0), random);
    const auto random_bits = static_cast<std::uint32_t>(random());
    INFO("round " << round << ": " << test::describe(by));
    const std::vector<float> out = resized(by, row, random_bits);
    const image_part window = source_window_of(by, random_bits);
    const bool flipped = is_flipped(by, random_bits);
    bool same = true;
    for (std::uint32_t y = 0; y < by.to_height; ++y)
      for (std::uint32_t x = 0; x < by.to_width; ++x) {
        for (std::uint32_t first = 0; first < by.channels; first += 3) {
          const std::uint32_t channels = std::min(by.channels - first, 3U);
          const color values = resized_color(
              taps_of(y, window.height, by.to_height),
              taps_of(flipped ? by.to_width - 1 - x : x, window.width, by.to_width), channels,
              [&](std::uint32_t line, std::uint32_t column, std::uint32_t channel) {
                return static_cast<float>(std::to_integer<int>(
                    row[place_of(by.channels_last, by.channels, by.height, by.width,
                                 first + channel, window.top + line, window.left + column)]));
              });
          for (std::uint32_t c = 0; c < channels; ++c) {
            const std::size_t at = place_of(by.to_channels_last, by.channels, by.to_height,
                                            by.to_width, first + c, y, x);
            same = same && std::memcmp(&values.of[c], &out[at], sizeof(float)) == 0;
          }
        }
      }
    REQUIRE(same);
  }
}

TEST_CASE("resize: taps are all the source elements under the triangle, of weights that sum up",
          "[device][host]") {
  for (std::uint32_t from = 1; from < 40; ++from)
    for (std::uint32_t to = 1; to < 40; ++to)
      for (std::uint32_t i = 0; i < to; ++i) {
        const resize_taps taps = taps_of(i, from, to);
        REQUIRE(taps.count >= 1);
        REQUIRE(taps.first + taps.count <= from);
        double total = 0;
        for (std::uint32_t tap = 0; tap < from; ++tap) {
          const bool is_one = tap >= taps.first && tap < taps.first + taps.count;
          const double weight = triangle(tap, i, from, to);
          REQUIRE((weight > 1e-9) == is_one);
          if (is_one) {
            const float whole = taps.weight(tap - taps.first);
            REQUIRE(double{whole} == Approx(weight * 2 * std::max(from, to)).margin(1e-6));
            total += double{whole};
          }
        }
        REQUIRE(total == double{taps.total});
      }
  const resize_taps widest = taps_of(0, max_image_side, 1);
  CHECK(widest.count == max_image_side);
  CHECK(widest.weight(max_image_side / 2) == 2.0F * max_image_side);
  const resize_taps last = taps_of(max_image_side - 1, 1, max_image_side);
  CHECK(last.first == 0);
  CHECK(last.count == 1);
}

TEST_CASE("resize: a division by a reciprocal has a division's bits", "[device][host]") {
  std::mt19937 random{3};
  for (int round = 0; round < 3'000'000; ++round) {
    const auto divisor = static_cast<float>(1 + (random() >> (random() % 32)));
    const float dividend = std::ldexp(static_cast<float>(random() >> (random() % 32)),
                                      static_cast<int>(random() % 64) - 32);
    const float expected = dividend / divisor;
    const float found = quotient_by(dividend, divisor, 1.0F / divisor);
    if (std::memcmp(&expected, &found, sizeof found) == 0) continue;
    INFO(dividend << " / " << divisor);
    REQUIRE(found == expected);
  }
}

TEST_CASE("resize: an image that keeps its size keeps its bits, and a flat one its value",
          "[device][host]") {
  std::mt19937 random{5};
  field_conversion by = resize_of(9, 70, 9, 70);
  by.channels = 3;
  by.channels_last = true;
  const bytes row = random_bytes(test::row_bytes_of(by, 0), random);
  field_conversion plain = by;
  plain.resizes = false;
  CHECK(resized(by, row) == resized(plain, row));
  for (const std::uint32_t to : {1U, 7U, 64U, 100U, 333U}) {
    const field_conversion flat = resize_of(100, 90, to, to);
    CHECK(resized(flat, bytes(9000, std::byte{201})) == std::vector<float>(to * to, 201.0F));
  }
}

TEST_CASE("resize: values are scaled for each channel, and rounded into the batch's type",
          "[device][host]") {
  field_conversion by = resize_of(1, 2, 1, 1);
  by.channels = 2;
  by.channels_last = true;
  by.per_channel = true;
  by.scale[0] = 0.5F;
  by.scale[1] = 2.0F;
  by.offset[1] = -1.0F;
  const bytes row{std::byte{2}, std::byte{10}, std::byte{4}, std::byte{20}};
  CHECK(resized(by, row) == std::vector<float>{1.5F, 29.0F});
  by.to = element_type::bf16;
  std::array<std::uint16_t, 2> halves{};
  transform_row(by, row.data(), row.size(), 0, reinterpret_cast<std::byte*>(halves.data()));
  CHECK(halves == std::array<std::uint16_t, 2>{0x3FC0, 0x41E8});
}

TEST_CASE("resize: windows are drawn within the image, of the areas and ratios that are asked for",
          "[device][host]") {
  field_conversion by = resize_of(300, 400, 10, 10);
  draw_windows(by, {0.25, 0.5}, {-1.0, 1.0});
  double least = 1;
  double most = 0;
  for (std::uint32_t bits = 0; bits < 20'000; ++bits) {
    const image_part window = source_window_of(by, bits * 2654435761U);
    REQUIRE(window.top + window.height <= 300);
    REQUIRE(window.left + window.width <= 400);
    const double area = window.height * window.width / (300.0 * 400.0);
    const double ratio = 1.0 * window.width / window.height;
    REQUIRE(area > 0.247);
    REQUIRE(area < 0.503);
    REQUIRE(ratio > 0.49);
    REQUIRE(ratio < 2.05);
    least = std::min(least, area);
    most = std::max(most, area);
  }
  CHECK(least < 0.252);
  CHECK(most > 0.498);
}

TEST_CASE("resize: if ten windows do not fit, it is the one in the middle", "[device][host]") {
  field_conversion by = resize_of(100, 10, 10, 10);
  draw_windows(by, {1.0, 1.0}, {0.0, 0.0});
  by.else_height = 13;
  by.else_width = 8;
  for (std::uint32_t bits = 0; bits < 100; ++bits) {
    const image_part window = source_window_of(by, bits);
    CHECK(window.top == 43);
    CHECK(window.left == 1);
    CHECK(window.height == 13);
    CHECK(window.width == 8);
  }
}

TEST_CASE("resize: 2 to a power equals the library's value within a few units of the last digit",
          "[device][host]") {
  for (float x = -10.0F; x <= 10.0F; x += 0.0137F)
    REQUIRE(double{power_of_two(x)} == Approx(std::exp2(double{x})).epsilon(4e-7));
  CHECK(power_of_two(0.0F) == 1.0F);
  CHECK(power_of_two(3.0F) == 8.0F);
  CHECK(power_of_two(-2.0F) == 0.25F);
}
