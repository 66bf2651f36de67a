/// Tests `image_options::channels` and `type`: grey images of one channel, and values of 16 bits.

#include <feedline/image/folder.hpp>
#include <feedline/loader/loader.hpp>
#include <feedline/sampler/shuffle.hpp>

#include "image/resize/resampler.hpp"
#include "support/checks/catch.hpp"
#include "support/checks/contains.hpp"
#include "support/datasets/encoded_check.hpp"
#include "support/devices/scripted_device.hpp"
#include "support/files/temporary_directory.hpp"
#include "support/images/image_bytes.hpp"
#include "unit/image/decoded_file.hpp"
#include "unit/image/decoded_images.hpp"

#include <cmath>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

using namespace feedline;
using namespace feedline::test;
using detail::image_extents;

namespace {

constexpr std::uint32_t height = 21;
constexpr std::uint32_t width = 34;

image_options as(std::uint32_t channels, element_type type,
                 image_layout layout = image_layout::hwc) {
  return {.height = height, .width = width, .layout = layout, .channels = channels, .type = type};
}

std::vector<std::uint16_t> decode_wide(std::span<const std::byte> file,
                                       const image_options& options) {
  const auto bytes = decode(file, options);
  std::vector<std::uint16_t> values(bytes.size() / 2);
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

/// 0.299 red + 0.587 green + 0.114 blue, to the nearest.
std::vector<std::uint8_t> luma_of(const std::vector<std::uint8_t>& rgb) {
  std::vector<std::uint8_t> grey;
  for (std::size_t i = 0; i < rgb.size(); i += 3)
    grey.push_back(static_cast<std::uint8_t>(
        std::lround(0.299 * rgb[i] + 0.587 * rgb[i + 1] + 0.114 * rgb[i + 2])));
  return grey;
}

}  // namespace

TEST_CASE("pixel format: a field has the channels and the type that are asked for",
          "[dataset][host]") {
  const auto shape = [](const image_options& options) {
    return make_image_decoder(options)->describe({}).shape;
  };
  using dimensions = std::vector<std::uint64_t>;
  CHECK(shape(as(1, element_type::u8)) == dimensions{height, width, 1});
  CHECK(shape(as(1, element_type::u16, image_layout::chw)) == dimensions{1, height, width});
  CHECK(shape(as(3, element_type::u16)) == dimensions{height, width, 3});
  CHECK(make_image_decoder(as(3, element_type::u16))->describe({}).type == element_type::u16);
}

TEST_CASE("pixel format: grey files keep their values, colours become luma", "[dataset][host]") {
  const image_options grey = as(1, element_type::u8);
  const auto painted = paint(height, width, 1);
  CHECK(decode(png_bytes(painted), grey) == painted.values);
  CHECK(decode(png_bytes(painted, {.bit_depth = 16}), grey) == painted.values);
  const byte_vector with_alpha = png_bytes(paint(height, width, 4));
  const auto luma = luma_of(decode(with_alpha, as_it_is(height, width)));
  const auto made = decode(with_alpha, grey);
  REQUIRE(made.size() == luma.size());
  int others = 0;  // halves may be rounded in the other direction
  for (std::size_t i = 0; i < made.size(); ++i) {
    CHECK(std::abs(made[i] - luma[i]) <= 1);
    others += made[i] == luma[i] ? 0 : 1;
  }
  CHECK(others < 8);
  // A JPEG stores luma. In a grey file all three channels are the same.
  const byte_vector jpeg = jpeg_bytes(painted);
  const auto repeated = decode(jpeg, as_it_is(height, width));
  const auto stored = decode(jpeg, grey);
  bool is_same = stored.size() * 3 == repeated.size();
  for (std::size_t i = 0; i < stored.size(); ++i) is_same = is_same && stored[i] == repeated[3 * i];
  CHECK(is_same);
  for (const std::uint32_t channels : {3U, 4U}) {
    const byte_vector coloured = jpeg_bytes(paint(height, width, channels));
    const auto wanted = luma_of(decode(coloured, as_it_is(height, width)));
    const auto seen = decode(coloured, grey);
    double sum = 0;
    for (std::size_t i = 0; i < seen.size(); ++i) sum += std::abs(seen[i] - wanted[i]);
    CHECK(sum / static_cast<double>(seen.size()) < 1.5);  // colours are limited to a byte
  }
}

TEST_CASE("pixel format: 16 bits stay 16 bits, and 255 becomes 65,535", "[dataset][host]") {
  for (const std::uint32_t channels : {1U, 3U}) {
    const auto painted = paint(height, width, channels);
    for (const int depth : {8, 16}) {
      const auto seen =
          decode_wide(png_bytes(painted, {.bit_depth = depth}), as(channels, element_type::u16));
      REQUIRE(seen.size() == painted.values.size());
      bool is_same = true;
      for (std::size_t i = 0; i < seen.size(); ++i)
        is_same = is_same && seen[i] == painted.values[i] * 257;
      CHECK(is_same);
    }
  }
  const auto grey = paint(height, width, 1);  // repeated in three channels
  const auto planes =
      decode_wide(png_bytes(grey, {.bit_depth = 16}), as(3, element_type::u16, image_layout::chw));
  CHECK(planes[height * width + 5] == grey.values[5] * 257);
}

TEST_CASE("pixel format: wide values and one channel are resized as bytes of three are",
          "[dataset][host]") {
  const auto filter =
      GENERATE(interpolation::bilinear, interpolation::bicubic, interpolation::nearest);
  const auto layout = GENERATE(image_layout::hwc, image_layout::chw);
  const auto painted = paint(60, 85, 3);
  for (const image_extents to : {image_extents{20, 33}, image_extents{100, 90}}) {
    image_options options{.height = to.height,
                          .width = to.width,
                          .resized_crop = crop_ranges{},
                          .interpolation = filter,
                          .layout = layout};
    const auto bytes = decode(png_bytes(painted), options);
    options.type = element_type::u16;
    const auto wide = decode_wide(png_bytes(painted), options);
    REQUIRE(wide.size() == bytes.size());
    double worst = 0;
    for (std::size_t i = 0; i < wide.size(); ++i)
      worst = std::max(worst, std::abs(wide[i] / 257.0 - bytes[i]));
    CHECK(worst < 0.6);
    const auto grey = paint(60, 85, 1);
    options.type = element_type::u8;
    options.layout = image_layout::hwc;
    const auto repeated = decode(png_bytes(grey), options);
    options.channels = 1;
    options.layout = layout;
    const auto one = decode(png_bytes(grey), options);
    bool is_same = one.size() * 3 == repeated.size();
    for (std::size_t i = 0; i < one.size(); ++i) is_same = is_same && one[i] == repeated[3 * i];
    CHECK(is_same);
  }
}

TEST_CASE("pixel format: devices decode one channel and 16 bits to the values of readers",
          "[loader][host]") {
  const temporary_directory folder;
  std::filesystem::create_directory(folder.path() / "a");
  for (std::uint32_t i = 0; i < images; ++i) {
    const auto painted = paint(20 + i, 25 + i % 7, i % 4 == 0 ? 1 : 3, i);
    folder.write("a/" + std::to_string(100 + i) + ".jpg",
                 i % 3 == 0 ? png_bytes(painted, {.bit_depth = i % 2 == 0 ? 16 : 8})
                            : jpeg_bytes(painted, {.is_progressive = i % 5 == 1}));
  }
  const auto channels = GENERATE(1U, 3U);
  const auto type = GENERATE(element_type::u8, element_type::u16);
  const auto layout = GENERATE(image_layout::hwc, image_layout::chw);
  if (channels == 3 && type == element_type::u8) return;
  image_options image = as(channels, type, layout);
  CAPTURE(channels, type, layout);
  loader_options loading{.batch_size = 7, .readers = 2, .seed = 3};
  const auto check = [&] {
    const auto data = open_image_folder(folder.path(), {.image = image}).dataset;
    if (!data->varies_by_epoch()) check_encoded(*data);
    check_same(data, shuffle{.seed = 2}, loading, 2);
  };
  check();
  image.resized_crop = crop_ranges{};
  loading.transforms = {
      {.field = "image", .to = element_type::f16, .scale = 0.5, .layout = layout, .flip = 0.5}};
  if (type == element_type::u8) loading.transforms[0].gaussian_blur = gaussian_blur{};
  check();
  image.resized_crop.reset();
  image.fit = image_fit::letterbox;
  image.fill = {3, 200, 255};
  check();
  image.fit = image_fit::pad;
  image.height = image.width = 64;
  image.flip = 0.5;
  loading.transforms.clear();
  check();
}

TEST_CASE("pixel format: memory of a huge image is freed by a small one, that of others is kept",
          "[dataset][host]") {
  detail::pixel_image image;
  image.resize({5000, 5000});
  CHECK(image.held_bytes() == 75'000'000);
  image.resize({4000, 4000});
  CHECK(image.held_bytes() == 75'000'000);
  image.resize({100, 100});
  CHECK(image.held_bytes() == 30'000);
  image.resize({4000, 4000});
  image.resize({100, 100});
  CHECK(image.held_bytes() == 48'000'000);
}

TEST_CASE("pixel format: other channels and types are refused", "[dataset][host]") {
  const auto message = [](const image_options& options) {
    return message_of<usage_error>([&] { (void)make_image_decoder(options); });
  };
  CHECK(message({.channels = 4}) ==
        "image_options::channels is 4, but must be 1 for grey or 3 for colours");
  CHECK(contains(message({.type = element_type::f32}),
                 "image_options::type is float32, but must be u8 or u16"));
}
