/// Images of one channel, of 16 bits, turned ones, and masks, decoded by the GPU: the bytes are
/// those of the CPU's decoders.

#include <feedline/image/folder.hpp>
#include <feedline/image/joined.hpp>
#include <feedline/sampler/shuffle.hpp>

#include "codecs/png/frame.hpp"
#include "gpu/decode/compared_images.hpp"
#include "gpu/decode/decoded_epochs.hpp"
#include "gpu/decode/decoded_images.hpp"
#include "support/checks/catch.hpp"
#include "support/files/temporary_directory.hpp"
#include "support/images/drawn_png.hpp"
#include "support/images/image_bytes.hpp"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <random>
#include <string>
#include <utility>
#include <vector>

using namespace feedline;
using namespace feedline::test;

namespace {

/// @param with_indices Only files of masks.
std::vector<arriving_image> draw_pngs(std::mt19937& random, int count, bool with_indices) {
  std::vector<arriving_image> images;
  while (static_cast<int>(images.size()) < count) {
    const png_parts parts = draw_png(random, images.size() % 4 == 0 ? 300 : 50);
    byte_vector file = join_png(parts);
    detail::png_frame frame{};
    (void)detail::read_png_frame(reinterpret_cast<const std::uint8_t*>(file.data()), file.size(),
                                 frame);
    if (with_indices && !frame.has_indices()) continue;
    images.push_back({.stored = std::move(file),
                      .height = static_cast<std::uint16_t>(parts.height),
                      .width = static_cast<std::uint16_t>(parts.width),
                      .format = image_format::png,
                      .pixel_bits = static_cast<std::uint8_t>(frame.pixel_bits())});
  }
  return images;
}

void add_jpegs(std::vector<arriving_image>& images) {
  for (const auto& [across, down] :
       {std::pair{1, 1}, std::pair{2, 1}, std::pair{2, 2}, std::pair{1, 2}, std::pair{4, 1}})
    for (const std::uint32_t side : {1U, 9U, 64U, 200U, 391U})
      for (const std::uint32_t channels : {1U, 3U})
        images.push_back({.stored = jpeg_bytes(paint(side, side + 7, channels, side),
                                               {.luma_across = across, .luma_down = down}),
                          .height = static_cast<std::uint16_t>(side),
                          .width = static_cast<std::uint16_t>(side + 7)});
}

/// Some part of a row of some size, mirrored or not; some images keep their size.
void draw_place(std::mt19937& random, const image_row& row, arriving_image& image) {
  image_in_row& in_row = image.in_row;
  in_row.row_height = up_to(random, row.height);
  in_row.row_width = up_to(random, row.width);
  in_row.height = std::min(image.height, in_row.row_height);
  in_row.width = std::min(image.width, in_row.row_width);
  if (random() % 3 != 0) in_row.height = up_to(random, in_row.row_height);
  if (random() % 3 != 0) in_row.width = up_to(random, in_row.row_width);
  in_row.top = static_cast<std::uint16_t>(random() % (in_row.row_height - in_row.height + 1U));
  in_row.left = static_cast<std::uint16_t>(random() % (in_row.row_width - in_row.width + 1U));
  in_row.mirrored = random() % 2 == 0;
}

/// Each in another orientation.
void turn(std::vector<arriving_image>& images) {
  for (std::size_t i = 0; i < images.size(); ++i)
    images[i].orientation = static_cast<std::uint8_t>(1 + i % 8);
}

/// @param count PNGs; there are JPEGs beside them, if they are no masks.
void check_format(image_row row, int count) {
  std::mt19937 random{row.channels + 10 * static_cast<std::uint32_t>(row.type)};
  std::vector<arriving_image> images = draw_pngs(random, count, row.is_mask);
  if (!row.is_mask) {
    add_jpegs(images);
    turn(images);
  }
  for (const image_layout layout : {image_layout::hwc, image_layout::chw}) {
    row.layout = layout;
    check_images("whole", row, images);
  }
  row.shorter_side = std::max(row.height, row.width) + 3;
  check_images("cut", row, images);
  row.shorter_side = 0;
  for (arriving_image& image : images) draw_window(random, image);
  check_images("windows", row, images);
  for (arriving_image& image : images) {
    image.window = {};
    draw_place(random, row, image);
  }
  check_images("places", row, images);
}

constexpr std::uint8_t fill[3] = {7, 130, 255};

image_row row_of(std::uint32_t channels, element_type type, interpolation filter) {
  return {.height = 83,
          .width = 130,
          .interpolation = filter,
          .fill = {fill[0], fill[1], fill[2]},
          .channels = channels,
          .type = type};
}

}  // namespace

TEST_CASE("pixel formats on the GPU: one channel and 16 bits have the CPU's values",
          "[cuda][decode][gpu]") {
  FEEDLINE_NEEDS_GPU();
  const auto filter =
      GENERATE(interpolation::bilinear, interpolation::bicubic, interpolation::nearest);
  check_format(row_of(1, element_type::u8, filter), 60);
  check_format(row_of(1, element_type::u16, filter), 60);
  check_format(row_of(3, element_type::u16, filter), 60);
}

TEST_CASE("pixel formats on the GPU: turned images have the CPU's values", "[cuda][decode][gpu]") {
  FEEDLINE_NEEDS_GPU();
  const auto filter =
      GENERATE(interpolation::bilinear, interpolation::bicubic, interpolation::nearest);
  check_format(row_of(3, element_type::u8, filter), 80);
}

TEST_CASE("pixel formats on the GPU: scans of large files are decoded by more threads",
          "[cuda][decode][gpu]") {
  FEEDLINE_NEEDS_GPU();
  std::vector<arriving_image> images;
  std::mt19937 random{3};
  for (const std::uint32_t channels : {1U, 3U}) {
    pixels image = paint(1500, 1400, channels, channels);
    for (std::uint8_t& value : image.values)
      value = static_cast<std::uint8_t>(value ^ (random() % 32));
    for (const bool has_restarts : {false, true})
      images.push_back({.stored = jpeg_bytes(
                            image, {.quality = 96, .restart_interval = has_restarts ? 50U : 0U}),
                        .height = 1500,
                        .width = 1400});
    images.push_back({.stored = jpeg_bytes(paint(60, 50, channels)), .height = 60, .width = 50});
  }
  REQUIRE(images.front().stored.size() > std::size_t{512} << 10U);
  check_images("large", {.height = 300, .width = 280}, images);
  arriving_image cut = images.front();
  cut.stored.resize(cut.stored.size() / 2);
  CHECK(decode_on_gpu({.height = 30, .width = 28}, {cut, images[2]}).good ==
        std::vector<bool>{false, true});
}

TEST_CASE("pixel formats on the GPU: masks have the stored indices", "[cuda][decode][gpu]") {
  FEEDLINE_NEEDS_GPU();
  image_row row = row_of(1, element_type::u8, interpolation::nearest);
  row.is_mask = true;
  check_format(row, 60);
}

TEST_CASE("pixel formats on the GPU: some small images of each format are decoded",
          "[cuda][decode][gpu]") {
  FEEDLINE_NEEDS_GPU();
  check_format(row_of(3, element_type::u8, interpolation::bilinear), 6);
  check_format(row_of(1, element_type::u8, interpolation::bilinear), 6);
  check_format(row_of(3, element_type::u16, interpolation::bicubic), 6);
}

TEST_CASE("pixel formats on the GPU: masks with colours, and JPEGs, are refused",
          "[cuda][decode][gpu]") {
  FEEDLINE_NEEDS_GPU();
  image_row row = row_of(1, element_type::u8, interpolation::nearest);
  row.is_mask = true;
  std::vector<arriving_image> images;
  for (const std::uint32_t channels : {1U, 3U})
    images.push_back({.stored = png_bytes(paint(20, 30, channels)),
                      .height = 20,
                      .width = 30,
                      .format = image_format::png});
  images.push_back({.stored = jpeg_bytes(paint(20, 30, 1)), .height = 20, .width = 30});
  CHECK(decode_on_gpu(row, images).good == std::vector<bool>{true, false, false});
}

TEST_CASE("pixel formats on the GPU: batches of images and their masks are those of readers",
          "[cuda][decode][gpu]") {
  FEEDLINE_NEEDS_GPU();
  const temporary_directory folder;
  std::filesystem::create_directories(folder.path() / "images");
  std::filesystem::create_directories(folder.path() / "masks");
  std::filesystem::create_directories(folder.path() / "depth");
  for (std::uint32_t i = 0; i < 90; ++i) {
    const std::uint32_t height = 40 + 5 * (i % 17);
    const std::uint32_t width = 130 - 4 * (i % 19);
    const std::string name = std::to_string(1000 + i);
    folder.write("images/" + name + ".jpg",
                 jpeg_bytes(paint(height, width, 3, i), {.is_progressive = i % 13 == 5}));
    folder.write("masks/" + name + ".png",
                 png_bytes(paint(height, width, 1, i),
                           {.bit_depth = 4, .has_palette = true, .is_interlaced = i % 11 == 3}));
    folder.write("depth/" + name + ".png",
                 png_bytes(paint(height, width, 1, i + 7), {.bit_depth = 16}));
  }
  for (const bool is_cut : {false, true}) {
    image_options image{.height = 48, .width = 56};
    if (is_cut) image.resized_crop = crop_ranges{};
    image_options depth = image;
    depth.channels = 1;
    depth.type = element_type::u16;
    const auto at = [&](const char* name) { return (folder.path() / name).string(); };
    const dataset_ptr data = open_joined_images({{"image", at("images"), make_image_decoder(image)},
                                                 {"mask", at("masks"), make_mask_decoder(image)},
                                                 {"depth", at("depth"), make_image_decoder(depth)}})
                                 .dataset;
    const auto options = [](decode_on who, int readers) {
      return loader_options{.batch_size = 13, .readers = readers, .decode_on = who, .seed = 6};
    };
    for (const auto& names : {std::pair{"image", "mask"}, std::pair{"depth", "mask"}}) {
      const delivered_epochs expected =
          take_epochs(data, shuffle{.seed = 3}, options(decode_on::cpu, 4), 0, names);
      for (const int readers : {0, 3})
        check_same(
            take_epochs(data, shuffle{.seed = 3}, options(decode_on::device, readers), 0, names),
            expected);
    }
  }
}
