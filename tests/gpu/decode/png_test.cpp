/// PNGs decoded by the GPU are those of the CPU's decoder, to the bit, and damage is found.

#include "codecs/png/frame.hpp"
#include "gpu/decode/compared_images.hpp"
#include "gpu/decode/decoded_images.hpp"
#include "gpu/gpu_stream.hpp"
#include "support/checks/catch.hpp"
#include "support/images/drawn_png.hpp"
#include "support/images/image_bytes.hpp"

#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <vector>

using namespace feedline;
using namespace feedline::test;

namespace {

arriving_image arriving(byte_vector file, std::uint32_t height, std::uint32_t width) {
  detail::png_frame frame{};
  const bool is_read = detail::read_png_frame(reinterpret_cast<const std::uint8_t*>(file.data()),
                                              file.size(), frame);
  return {.stored = std::move(file),
          .height = static_cast<std::uint16_t>(height),
          .width = static_cast<std::uint16_t>(width),
          .format = image_format::png,
          .pixel_bits = static_cast<std::uint8_t>(is_read ? frame.pixel_bits() : 0)};
}

arriving_image arriving(const png_parts& parts) {
  return arriving(join_png(parts), parts.height, parts.width);
}

/// Result of the CPU's decoder; nothing if it refuses the file.
std::optional<byte_vector> on_cpu(const image_row& row, const arriving_image& image) {
  try {
    return decode_on_cpu(row, image.stored, image.window);
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

/// Decodes PNGs and JPEGs in turn, and one PNG of the given size among them.
void check_jpegs_beside(std::uint32_t count, std::uint16_t height, std::uint16_t width) {
  std::vector<arriving_image> images;
  for (std::uint32_t i = 0; i < count; ++i) {
    const pixels image = paint(60 + i % 13, 50 + i % 7, 3, i);
    if (i % 2 == 0)
      images.push_back(arriving(png_bytes(image), image.height, image.width));
    else
      images.push_back({jpeg_bytes(image), static_cast<std::uint16_t>(image.height),
                        static_cast<std::uint16_t>(image.width)});
  }
  images[count / 2] = arriving(png_bytes(paint(height, width, 4)), height, width);
  check_images("PNGs and JPEGs", {.height = 32, .width = 32}, images);
}

}  // namespace

TEST_CASE("png on the GPU: all types, depths, filters and chunks are those that the CPU decodes",
          "[cuda][decode][gpu]") {
  FEEDLINE_NEEDS_GPU();
  std::mt19937 random{3};
  std::vector<arriving_image> images;
  for (int i = 0; i < 500; ++i) images.push_back(arriving(draw_png(random, i % 4 == 0 ? 300 : 50)));
  check_images("hwc", {.height = 40, .width = 61}, images);
  check_images("chw", {.height = 33, .width = 30, .layout = image_layout::chw}, images);
  for (arriving_image& image : images) draw_window(random, image);
  check_images("windows", {.height = 40, .width = 61}, images);
}

TEST_CASE("png on the GPU: pixels are those of the file, where nothing is resized",
          "[cuda][decode][gpu]") {
  FEEDLINE_NEEDS_GPU();
  std::vector<arriving_image> images;
  for (const std::uint32_t channels : {1U, 2U, 3U, 4U})
    for (const int depth : {8, 16})
      images.push_back(
          arriving(png_bytes(paint(67, 131, channels, channels), {.bit_depth = depth}), 67, 131));
  check_images("as it is", {.height = 67, .width = 131}, images);
}

TEST_CASE("png on the GPU: large images, and JPEGs beside them, are decoded in one call",
          "[cuda][decode][gpu][long]") {
  FEEDLINE_NEEDS_GPU();
  check_jpegs_beside(600, 2200, 3000);
}

TEST_CASE("png on the GPU: some images, and JPEGs beside them, are decoded in one call",
          "[cuda][decode][gpu]") {
  FEEDLINE_NEEDS_GPU();
  check_jpegs_beside(60, 220, 300);
}

TEST_CASE("png on the GPU: damage is found, and images beside it are whole",
          "[cuda][decode][gpu]") {
  FEEDLINE_NEEDS_GPU();
  std::mt19937 random{8};
  const image_row row{.height = 24, .width = 24};
  const arriving_image whole = arriving(png_bytes(paint(90, 70)), 90, 70);
  std::vector<arriving_image> images(600, whole);
  for (std::size_t i = 1; i + 1 < images.size(); ++i) {
    byte_vector& file = images[i].stored;
    if (i % 3 == 0) file.resize(random() % file.size() + 1);
    if (i % 3 == 1) file[random() % file.size()] ^= std::byte(1U << random() % 8);
    if (i % 3 == 2) {  // with right checksums of its chunks
      png_parts parts = draw_png(random, 60);
      parts.stream[random() % parts.stream.size()] ^= static_cast<std::uint8_t>(1 + random() % 255);
      images[i] = arriving(parts);
    }
  }
  images[7].height = 89;  // its header says 90
  images[8].format = image_format::jpeg;
  images[9] = whole;
  images[9].pixel_bits = 8;  // it has 24
  images[10] = whole;
  images[10].pixel_bits = 0;  // any number
  const decoded_images got = decode_on_gpu(row, images);
  CHECK_FALSE(got.good[7]);
  CHECK_FALSE(got.good[8]);
  CHECK_FALSE(got.good[9]);
  CHECK(got.good[10]);
  int good = 0;
  for (std::size_t i = 0; i < images.size(); ++i) {
    if (i == 7 || i == 8 || i == 9) continue;
    CAPTURE(i);
    const auto expected = on_cpu(row, images[i]);
    if (got.good[i]) CHECK((expected && got.rows[i] == *expected));
    good += got.good[i] ? 1 : 0;
  }
  CHECK(got.good.front());
  CHECK(got.good.back());
  CHECK(good < 200);
}
