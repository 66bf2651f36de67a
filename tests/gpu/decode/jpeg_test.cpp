/// Images decoded by the GPU are those of the CPU's decoder at full size, to the bit.

#include "gpu/decode/compared_images.hpp"
#include "gpu/decode/decoded_images.hpp"
#include "gpu/gpu_stream.hpp"
#include "support/checks/catch.hpp"
#include "support/images/image_bytes.hpp"

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <utility>
#include <vector>

using namespace feedline;
using namespace feedline::test;

namespace {

arriving_image jpeg_of(std::uint16_t height, std::uint16_t width, std::uint32_t channels = 3,
                       const jpeg_style& style = {}) {
  return {jpeg_bytes(paint(height, width, channels, height + width), style), height, width};
}

/// Smooth colours.
arriving_image smooth_jpeg(std::uint16_t height, std::uint16_t width) {
  pixels image{height, width, 3, std::vector<std::uint8_t>(std::size_t{3} * height * width)};
  for (std::size_t i = 0; i < image.values.size(); ++i) {
    const std::size_t y = i / 3 / width;
    const std::size_t x = i / 3 % width;
    image.values[i] = static_cast<std::uint8_t>(
        128 + 100 * std::sin(0.02 * static_cast<double>(y + x * (i % 3 + 1))));
  }
  return {jpeg_bytes(image, {.quality = 95}), height, width};
}

/// Cuts a window out of each of `small` and `large` images of every sampling.
void check_windows(int small, int large) {
  std::mt19937 random{7};
  const auto side = [&](std::uint32_t most) {
    return static_cast<std::uint16_t>(1 + random() % most);
  };
  const auto narrow = [](std::uint32_t value) { return static_cast<std::uint16_t>(value); };
  std::vector<arriving_image> images;
  for (const auto& [across, down] :
       std::vector<std::pair<int, int>>{{1, 1}, {2, 1}, {1, 2}, {2, 2}, {4, 1}})
    for (int i = 0; i < small + large; ++i) {
      arriving_image image = jpeg_of(side(i < small ? 90 : 400), side(i < small ? 300 : 600), 3,
                                     {.luma_across = across, .luma_down = down});
      source_window& window = image.window;
      window.top = narrow(side(image.height) - 1U);
      window.left = narrow(side(image.width) - 1U);
      window.height = side(image.height - window.top);
      window.width = side(image.width - window.left);
      images.push_back(image);
    }
  check_images("hwc", {.height = 96, .width = 61}, images);
  check_images("chw", {.height = 40, .width = 224, .layout = image_layout::chw}, images);
  check_images("one pixel", {.height = 1, .width = 1}, images);
  for (const auto filter : {interpolation::bicubic, interpolation::nearest}) {
    check_images("other filters", {.height = 96, .width = 61, .interpolation = filter}, images);
    check_images("other filters, chw",
                 {.height = 40, .width = 224, .layout = image_layout::chw, .interpolation = filter},
                 images);
    check_images("other filters, one pixel", {.height = 1, .width = 1, .interpolation = filter},
                 images);
  }
}

}  // namespace

TEST_CASE("jpeg on the GPU: smooth images are those that the CPU decodes", "[cuda][decode][gpu]") {
  FEEDLINE_NEEDS_GPU();
  std::vector<arriving_image> images;
  for (const auto side : std::vector<std::uint16_t>{17, 64, 225, 500}) {
    images.push_back(smooth_jpeg(side, static_cast<std::uint16_t>(side + 31)));
    images.push_back(smooth_jpeg(static_cast<std::uint16_t>(side + 8), side));
  }
  check_images("hwc", {.height = 224, .width = 224}, images);
  check_images("chw", {.height = 100, .width = 61, .layout = image_layout::chw}, images);
  check_images("shorter side", {.height = 60, .width = 61, .shorter_side = 77}, images);
  check_images("as it is", {.height = 64, .width = 95}, {smooth_jpeg(64, 95)});
  for (const auto filter : {interpolation::bicubic, interpolation::nearest})
    check_images("shorter side, other filters",
                 {.height = 60, .width = 61, .shorter_side = 77, .interpolation = filter}, images);
}

TEST_CASE("jpeg on the GPU: grey images, and 4:1:1, are those that the CPU decodes",
          "[cuda][decode][gpu]") {
  FEEDLINE_NEEDS_GPU();
  std::vector<arriving_image> images;
  for (const auto side : std::vector<std::uint16_t>{1, 9, 130, 301}) {
    images.push_back(jpeg_of(side, static_cast<std::uint16_t>(side + 31), 1));
    images.push_back(jpeg_of(side, side, 1, {.luma_across = 2, .luma_down = 2}));
    images.push_back(
        jpeg_of(side, static_cast<std::uint16_t>(side + 7), 3, {.luma_across = 4, .luma_down = 1}));
  }
  check_images("hwc", {.height = 100, .width = 110}, images);
  check_images("chw", {.height = 33, .width = 30, .layout = image_layout::chw}, images);
}

TEST_CASE("jpeg on the GPU: windows of images are those that the CPU cuts out",
          "[cuda][decode][gpu][long]") {
  FEEDLINE_NEEDS_GPU();
  check_windows(40, 20);
}

TEST_CASE("jpeg on the GPU: windows of a few images are those that the CPU cuts out",
          "[cuda][decode][gpu]") {
  FEEDLINE_NEEDS_GPU();
  check_windows(6, 1);
}

TEST_CASE("jpeg on the GPU: images that are strongly reduced leave those beside them whole",
          "[cuda][decode][gpu]") {
  FEEDLINE_NEEDS_GPU();
  std::vector<arriving_image> images;
  for (std::uint16_t i = 0; i < 8; ++i)
    images.push_back(i % 2 == 0 ? jpeg_of(1000, static_cast<std::uint16_t>(10 + i))
                                : jpeg_of(static_cast<std::uint16_t>(10 + i), 1000));
  for (const auto filter :
       {interpolation::bilinear, interpolation::bicubic, interpolation::nearest})
    check_images("reduced", {.height = 7, .width = 3, .interpolation = filter}, images);
}

TEST_CASE("jpeg on the GPU: an image whose window is not within it is not decoded",
          "[cuda][decode][gpu]") {
  FEEDLINE_NEEDS_GPU();
  std::vector<arriving_image> images(3, jpeg_of(40, 50));
  images[0].window = {0, 0, 41, 50};
  images[1].window = {39, 49, 1, 1};
  images[2].window = {39, 49, 1, 2};
  const decoded_images got = decode_on_gpu({.height = 8, .width = 8}, images);
  CHECK(got.good == std::vector<bool>{false, true, false});
}

TEST_CASE("jpeg on the GPU: photographs at 4:4:4 and 4:2:0, of odd sizes, are decoded",
          "[cuda][decode][gpu]") {
  FEEDLINE_NEEDS_GPU();
  const image_row row{.height = 96, .width = 96};
  for (const bool halves : {false, true}) {
    std::vector<arriving_image> images;
    for (const auto side : std::vector<std::uint16_t>{1, 7, 8, 15, 16, 33, 375})
      images.push_back(
          jpeg_of(side, static_cast<std::uint16_t>(side + 2), 3, {.halves_chroma = halves}));
    check_images(halves ? "4:2:0" : "4:4:4", row, images);
  }
}

TEST_CASE("jpeg on the GPU: all samplings and qualities, restarts and own codes are decoded",
          "[cuda][decode][gpu]") {
  FEEDLINE_NEEDS_GPU();
  std::vector<arriving_image> images;
  for (const auto& [across, down] :
       std::vector<std::pair<int, int>>{{1, 1}, {2, 1}, {1, 2}, {2, 2}, {4, 1}})
    for (const int quality : {5, 60, 100})
      for (const unsigned restart_interval : {0U, 9U})
        for (const auto side : std::vector<std::uint16_t>{2, 30, 301})
          images.push_back(jpeg_of(side, static_cast<std::uint16_t>(side + 40), 3,
                                   {.quality = quality,
                                    .luma_across = across,
                                    .luma_down = down,
                                    .restart_interval = restart_interval,
                                    .has_optimal_codes = quality == 60}));
  check_images("samplings", {.height = 150, .width = 170}, images);
}

TEST_CASE("jpeg on the GPU: headers of any length are read", "[cuda][decode][gpu]") {
  FEEDLINE_NEEDS_GPU();
  const arriving_image plain = smooth_jpeg(40, 61);
  std::vector<arriving_image> images{plain};
  std::vector<std::size_t> lengths{1000, 4000, 65000};  // lengths of a comment
  for (std::size_t length = 1300; length < 1600; ++length) lengths.push_back(length);
  for (const std::size_t length : lengths) {
    byte_vector comment(2 + length, std::byte{0x20});
    comment[0] = std::byte{0xFF};
    comment[1] = std::byte{0xFE};
    comment[2] = std::byte(length >> 8U);
    comment[3] = std::byte(length & 0xFFU);
    images.push_back(plain);
    byte_vector& file = images.back().stored;
    file.insert(file.begin() + 2, comment.begin(), comment.end());
  }
  check_images("comments", {.height = 32, .width = 32}, images);
}

TEST_CASE("jpeg on the GPU: more images than a batch, and of many sizes, are decoded in one call",
          "[cuda][decode][gpu]") {
  FEEDLINE_NEEDS_GPU();
  std::vector<arriving_image> images;
  for (std::uint16_t i = 0; i < 300; ++i)
    images.push_back(smooth_jpeg(static_cast<std::uint16_t>(40 + i % 13),
                                 static_cast<std::uint16_t>(50 + i % 7)));
  images[70] = smooth_jpeg(2500, 3000);
  check_images("300 images", {.height = 32, .width = 32}, images);
  check_images("300 images, unchecked", {.height = 32, .width = 32, .allow_damaged = true}, images);
}

TEST_CASE("jpeg on the GPU: rows that a reader finished are copied", "[cuda][decode][gpu]") {
  FEEDLINE_NEEDS_GPU();
  const image_row row{.height = 5, .width = 7};
  const byte_vector finished(105, std::byte{0x33});
  const decoded_images got = decode_on_gpu(
      row, {jpeg_of(20, 20), {finished, 0, 0, 1}, jpeg_of(30, 20), {byte_vector(104), 0, 0, 1}});
  CHECK(got.good == std::vector{true, true, true, false});
  CHECK(got.rows[1] == finished);
}

TEST_CASE("jpeg on the GPU: damage is found, and images beside it are whole",
          "[cuda][decode][gpu]") {
  FEEDLINE_NEEDS_GPU();
  const arriving_image whole = smooth_jpeg(120, 90);
  std::vector<arriving_image> images(9, whole);
  images[1].stored.resize(whole.stored.size() / 2);  // cut in the scan
  images[2].stored.resize(40);                       // cut in the header
  images[3].stored.assign(500, std::byte{0xFF});     // no JPEG at all
  images[4].height = 119;                            // its header says 120
  images[5].width = 91;                              // it says 90
  images[6].height = images[6].width = 0;            // the header was not read
  images[7].stored.resize(whole.stored.size() - 2);  // without its end
  const std::vector<bool> expected{true, false, false, false, false, false, false, false, true};
  image_row row{.height = 40, .width = 40};
  const decoded_images got = decode_on_gpu(row, images);
  CHECK(got.good == expected);
  const byte_vector reference = decode_on_cpu(row, whole.stored);
  CHECK(got.rows[0] == reference);
  CHECK(got.rows[8] == reference);

  row.allow_damaged = true;
  const decoded_images lenient = decode_on_gpu(row, images);
  CHECK(lenient.good[1]);
  CHECK(lenient.good[7]);
  CHECK(!lenient.good[2]);
  CHECK(!lenient.good[4]);
  CHECK(lenient.rows[8] == reference);
}

TEST_CASE(
    "jpeg on the GPU: stray bytes before and after a scan change no pixel, data that is left does",
    "[cuda][decode][gpu]") {
  FEEDLINE_NEEDS_GPU();
  const image_row row{.height = 120, .width = 90};
  const arriving_image whole = smooth_jpeg(120, 90);
  const arriving_image restarts = jpeg_of(120, 90, 3, {.restart_interval = 4});
  std::vector<arriving_image> images;
  for (const arriving_image& each : {whole, restarts})
    for (const std::size_t count : {1U, 8U, 240U}) {
      images.push_back(each);
      byte_vector& file = images.back().stored;
      file.insert(file.end() - 2, count, std::byte{0});
    }
  for (const arriving_image& each : {whole, restarts})
    for (const std::size_t count : {1U, 8U, 3000U}) {
      images.push_back(each);
      byte_vector& file = images.back().stored;
      file.insert(file.begin() + 20, count, std::byte{0});  // after JFIF's segment
    }
  const std::size_t good = images.size();
  for (const arriving_image& each :
       {jpeg_of(160, 90), jpeg_of(160, 90, 3, {.restart_interval = 4})}) {
    images.push_back(each);
    byte_vector& file = images.back().stored;
    for (std::size_t i = 0; i < file.size(); ++i)
      if (file[i] == std::byte{0xFF} && file[i + 1] == std::byte{0xC0}) {
        file[i + 6] = std::byte{120};  // the height
        break;
      }
    images.back().height = 120;
  }
  const decoded_images got = decode_on_gpu(row, images);
  for (std::size_t i = 0; i < images.size(); ++i) {
    CAPTURE(i);
    CHECK(got.good[i] == (i < good));
    if (i < good) CHECK(got.rows[i] == decode_on_cpu(row, (i % 6 < 3 ? whole : restarts).stored));
  }
}

TEST_CASE("jpeg on the GPU: scans with bytes at random write nothing outside",
          "[cuda][decode][gpu]") {
  FEEDLINE_NEEDS_GPU();
  std::mt19937 random{4};
  std::vector<arriving_image> images;
  for (std::uint16_t i = 0; i < 120; ++i) {
    images.push_back(jpeg_of(static_cast<std::uint16_t>(60 + i), 200));
    byte_vector& file = images.back().stored;
    if (i % 3 == 0) continue;
    for (std::size_t at = file.size() / 3; at < file.size() - 2; at += 1 + random() % 400)
      file[at] = std::byte(random() % 256);
  }
  const image_row row{.height = 32, .width = 32};
  const decoded_images got = decode_on_gpu(row, images);
  for (std::size_t i = 0; i < images.size(); ++i) {
    CAPTURE(i);
    if (i % 3 == 0) CHECK(got.good[i]);
    if (i % 3 == 0) CHECK(got.rows[i] == decode_on_cpu(row, images[i].stored));
  }
  CHECK(std::ranges::count(got.good, false) > 60);
}
