#include "image/resize/resampler.hpp"

#include "image/resize/four_pixels.hpp"
#include "image/resize/resample_taps.hpp"
#include "support/checks/catch.hpp"
#include "support/images/image_bytes.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>
#include <random>

using namespace feedline;
using detail::image_extents;
using detail::resample_window;

namespace {

detail::pixel_image to_image(const test::pixels& from) {
  detail::pixel_image image;
  image.resize({from.height, from.width});
  std::copy(from.values.begin(), from.values.end(), image.data());
  return image;
}

std::vector<std::uint8_t> resize(const test::pixels& from, const resample_window& window,
                                 image_layout layout = image_layout::hwc,
                                 interpolation filter = interpolation::bilinear) {
  detail::resampler resizes{filter};
  std::vector<std::uint8_t> out(window.extents.pixels() * 3, 0xcd);
  resizes.resize(to_image(from), window, layout, std::as_writable_bytes(std::span{out}));
  return out;
}

/// The height of a curve: a triangle, or Keys's cubic with a = -0.5. @param x Distance from its
/// middle, in resized or source elements, whichever are larger.
double height_of(interpolation filter, double x) {
  if (filter == interpolation::bilinear) return std::max(0.0, 1 - x);
  if (x < 1) return (1.5 * x - 2.5) * x * x + 1;
  return x < 2 ? ((-0.5 * x + 2.5) * x - 4) * x + 2 : 0;
}

/// One axis by the definition: a curve over the source, its weights divided by their sum.
std::vector<double> weights_of(interpolation filter, std::uint32_t from, std::uint32_t to,
                               std::uint32_t i) {
  const double scale = static_cast<double>(from) / to;
  const double reach = std::max(scale, 1.0);
  std::vector<double> weights(from);
  for (std::uint32_t k = 0; k < from; ++k)
    weights[k] = height_of(filter, std::abs(k + 0.5 - (i + 0.5) * scale) / reach);
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  for (double& weight : weights) weight /= sum;
  return weights;
}

/// The same resize in double precision, by both axes' definitions.
std::vector<double> exact(interpolation filter, const test::pixels& from, std::uint32_t height,
                          std::uint32_t width) {
  std::vector<double> columns(std::size_t{from.height} * width * 3);
  for (std::uint32_t x = 0; x < width; ++x) {
    const auto weights = weights_of(filter, from.width, width, x);
    for (std::uint32_t y = 0; y < from.height; ++y)
      for (std::uint32_t c = 0; c < 3; ++c)
        for (std::uint32_t k = 0; k < from.width; ++k)
          columns[(std::size_t{y} * width + x) * 3 + c] += weights[k] * from.at(y, k, c);
  }
  std::vector<double> out(std::size_t{height} * width * 3);
  for (std::uint32_t y = 0; y < height; ++y) {
    const auto weights = weights_of(filter, from.height, height, y);
    for (std::size_t i = 0; i < std::size_t{width} * 3; ++i)
      for (std::uint32_t k = 0; k < from.height; ++k)
        out[std::size_t{y} * width * 3 + i] += weights[k] * columns[std::size_t{k} * width * 3 + i];
  }
  return out;
}

struct sizes {
  image_extents from;
  image_extents to;
};

const std::vector<sizes> all_sizes{
    {{37, 53}, {16, 24}}, {{16, 24}, {37, 53}}, {{64, 64}, {64, 20}},  {{33, 65}, {33, 65}},
    {{1, 1}, {5, 7}},     {{1, 200}, {9, 9}},   {{200, 1}, {9, 9}},    {{40, 40}, {1, 1}},
    {{7, 300}, {14, 3}},  {{2, 3}, {3, 2}},     {{120, 90}, {60, 45}}, {{50, 31}, {49, 30}},
};

}  // namespace

TEST_CASE("resampler: every value is within 0.6 of the filter in double precision",
          "[dataset][host]") {
  const auto filter = GENERATE(interpolation::bilinear, interpolation::bicubic);
  for (const auto& [from, to] : all_sizes) {
    const auto image = test::paint(from.height, from.width, 3, from.width);
    const auto got = resize(image, {to, 0, 0, to}, image_layout::hwc, filter);
    const auto wanted = exact(filter, image, to.height, to.width);
    double worst = 0;
    for (std::size_t i = 0; i < got.size(); ++i)
      worst = std::max(worst, std::abs(got[i] - std::clamp(wanted[i], 0.0, 255.0)));
    INFO(from.height << " x " << from.width << " to " << to.height << " x " << to.width);
    CHECK(worst < 0.6);
  }
}

TEST_CASE("resampler: nearest takes the pixel under the middle, the second of two",
          "[dataset][host]") {
  for (const auto& [from, to] : all_sizes) {
    const auto image = test::paint(from.height, from.width, 3, from.width);
    const auto got = resize(image, {to, 0, 0, to}, image_layout::hwc, interpolation::nearest);
    bool same = true;
    for (std::uint32_t y = 0; y < to.height; ++y)
      for (std::uint32_t x = 0; x < to.width; ++x)
        for (std::uint32_t c = 0; c < 3; ++c)
          same = same && got[(std::size_t{y} * to.width + x) * 3 + c] ==
                             image.at((2 * y + 1) * from.height / (2 * to.height),
                                      (2 * x + 1) * from.width / (2 * to.width), c);
    CHECK(same);
  }
}

TEST_CASE("resampler: black stays black and white stays white", "[dataset][host]") {
  const auto filter =
      GENERATE(interpolation::bilinear, interpolation::bicubic, interpolation::nearest);
  for (const auto& [from, to] : all_sizes)
    for (const std::uint8_t value : {std::uint8_t{0}, std::uint8_t{255}}) {
      test::pixels image{from.height, from.width, 3, {}};
      image.values.assign(from.pixels() * 3, value);
      const auto got = resize(image, {to, 0, 0, to}, image_layout::hwc, filter);
      CHECK(std::all_of(got.begin(), got.end(), [&](std::uint8_t each) { return each == value; }));
    }
}

TEST_CASE("resampler: an image of the size wanted passes unchanged", "[dataset][host]") {
  const auto image = test::paint(19, 23);
  const image_extents size{19, 23};
  for (const auto filter :
       {interpolation::bilinear, interpolation::bicubic, interpolation::nearest})
    CHECK(resize(image, {size, 0, 0, size}, image_layout::hwc, filter) == image.values);
}

TEST_CASE("four pixels: one after the other, and in reverse", "[dataset][host]") {
  const detail::four_pixels pixels{{0x03020100, 0x13121110, 0x23222120}};
  std::uint32_t words[3];
  pixels.interleave(words);
  CHECK(std::vector(words, words + 3) ==
        std::vector<std::uint32_t>{0x01201000, 0x12022111, 0x23130322});
  CHECK(pixels.mirrored().channel[0] == 0x00010203);
  CHECK(pixels.mirrored().channel[1] == 0x10111213);
  CHECK(pixels.mirrored().channel[2] == 0x20212223);
}

TEST_CASE("resampler: a window is that part of the whole", "[dataset][host]") {
  for (const auto& [from, to] : all_sizes) {
    const auto image = test::paint(from.height, from.width);
    const auto whole = resize(image, {to, 0, 0, to});
    const image_extents part{(to.height + 1) / 2, (to.width + 2) / 3};
    const resample_window window{to, to.height - part.height, (to.width - part.width) / 2, part};
    const auto got = resize(image, window);
    bool same = true;
    for (std::uint32_t y = 0; y < part.height; ++y)
      for (std::size_t i = 0; i < std::size_t{part.width} * 3; ++i)
        same = same && got[std::size_t{y} * part.width * 3 + i] ==
                           whole[(std::size_t{window.top + y} * to.width + window.left) * 3 + i];
    INFO(from.height << " x " << from.width << " to " << to.height << " x " << to.width);
    CHECK(same);
  }
}

TEST_CASE("resampler: planes hold the same as pixels", "[dataset][host]") {
  const auto image = test::paint(30, 41);
  for (const image_extents to : {image_extents{17, 12}, image_extents{30, 41}}) {
    const auto by_pixel = resize(image, {to, 0, 0, to});
    const auto by_plane = resize(image, {to, 0, 0, to}, image_layout::chw);
    bool same = true;
    for (std::size_t i = 0; i < to.pixels(); ++i)
      for (std::size_t c = 0; c < 3; ++c)
        same = same && by_plane[c * to.pixels() + i] == by_pixel[3 * i + c];
    CHECK(same);
  }
}

TEST_CASE("resampler: vector code gives the result of plain code, to the bit", "[dataset][host]") {
  const auto plain = detail::plain_resample_loops();
  const auto best = detail::best_resample_loops();
  const auto filter =
      GENERATE(interpolation::bilinear, interpolation::bicubic, interpolation::nearest);
  std::mt19937 random{7};
  for (const std::uint32_t from : {1U, 2U, 5U, 16U, 17U, 33U, 100U, 257U})
    for (const std::uint32_t to : {1U, 2U, 7U, 16U, 40U}) {
      detail::resample_axis axis;
      axis.plan({from, to, 0, to, filter});
      const std::size_t stride = 3 * std::size_t{from};
      std::vector<std::uint8_t> rows(stride * axis.taps());
      for (auto& value : rows) value = static_cast<std::uint8_t>(random());
      std::vector<std::int16_t> line(stride + 1);
      std::vector<std::int16_t> other_line(stride + 1);
      plain.sum_rows(rows.data(), stride, axis.weights(to / 2), std::span{line}.first(stride));
      best.sum_rows(rows.data(), stride, axis.weights(to / 2), std::span{other_line}.first(stride));
      CHECK(line == other_line);

      std::vector<std::uint8_t> out(3 * std::size_t{to});
      auto other_out = out;
      plain.sum_columns(line.data(), axis, out.data(), {1, to, 3});
      best.sum_columns(line.data(), axis, other_out.data(), {1, to, 3});
      CHECK(out == other_out);
    }
}

TEST_CASE("resampler: weights of an element sum up to one, wherever it lies", "[dataset][host]") {
  const auto filter =
      GENERATE(interpolation::bilinear, interpolation::bicubic, interpolation::nearest);
  detail::resample_axis axis;
  for (const std::uint32_t from : {1U, 3U, 224U, 1000U, 65535U})
    for (const std::uint32_t to : {1U, 3U, 224U, 4096U}) {
      axis.plan({from, to, to / 3, to - to / 3, filter, to % 2 == 0});
      bool all_whole = true;
      bool all_within = true;
      for (std::uint32_t i = 0; i < axis.count(); ++i) {
        const auto weights = axis.weights(i);
        all_whole = all_whole && std::accumulate(weights.begin(), weights.end(), 0) ==
                                     1 << detail::resample_taps::weight_bits;
        all_within = all_within && axis.first(i) + axis.taps() <= from;
      }
      CHECK(all_whole);
      CHECK(all_within);
    }
}
