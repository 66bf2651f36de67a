/// Images that the GPU decodes to rows of different sizes, and writes at some position in them:
/// bytes beside those of readers.

#include <feedline/image/folder.hpp>
#include <feedline/sampler/shuffle.hpp>

#include "gpu/decode/decoded_epochs.hpp"
#include "gpu/decode/decoded_images.hpp"
#include "support/checks/catch.hpp"
#include "support/devices/device_contract.hpp"
#include "support/files/temporary_directory.hpp"
#include "support/images/image_bytes.hpp"
#include "support/images/sized_kinds.hpp"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

using namespace feedline;
using namespace feedline::test;

namespace {

arriving_image arriving(std::uint32_t height, std::uint32_t width, bool is_png,
                        const image_in_row& in_row, const source_window& window = {}) {
  const pixels painted = paint(height, width, 3, height * width);
  return {.stored = is_png ? png_bytes(painted) : jpeg_bytes(painted),
          .height = static_cast<std::uint16_t>(height),
          .width = static_cast<std::uint16_t>(width),
          .window = window,
          .in_row = in_row,
          .format = is_png ? image_format::png : image_format::jpeg};
}

constexpr std::uint32_t image_count = 300;

/// JPEGs and PNGs of many shapes; some are progressive, which readers decode.
std::string write_photos(const temporary_directory& folder) {
  std::filesystem::create_directories(folder.path() / "all");
  for (std::uint32_t i = 0; i < image_count; ++i) {
    const pixels painted = paint(40 + 11 * (i % 17), 200 - 9 * (i % 19), 3, i);
    folder.write("all/" + std::to_string(1000 + i) + ".jpg",
                 i % 5 == 2 ? png_bytes(painted)
                            : jpeg_bytes(painted, {.is_progressive = i % 13 == 5,
                                                   .halves_chroma = i % 2 == 0}));
  }
  return folder.path().string();
}

}  // namespace

TEST_CASE("sized images on the GPU: rows, positions and mirrored images are the CPU's",
          "[cuda][decode][gpu]") {
  FEEDLINE_NEEDS_GPU();
  const auto layout = GENERATE(image_layout::hwc, image_layout::chw);
  const auto filter =
      GENERATE(interpolation::bilinear, interpolation::bicubic, interpolation::nearest);
  CAPTURE(layout, filter);
  const image_row row{.height = 150,
                      .width = 131,
                      .layout = layout,
                      .interpolation = filter,
                      .fill = {7, 130, 255}};
  std::vector<arriving_image> images;
  for (const bool is_png : {false, true}) {
    const auto add = [&](std::uint32_t height, std::uint32_t width, const image_in_row& in_row,
                         const source_window& window = {}) {
      images.push_back(arriving(height, width, is_png, in_row, window));
    };
    add(150, 131, {});
    add(100, 90, {.row_height = 128, .row_width = 96, .height = 100, .width = 90});
    add(100, 90,
        {.row_height = 128, .row_width = 96, .height = 100, .width = 90, .mirrored = true});
    add(300, 47, {.top = 17, .left = 66, .height = 130, .width = 65, .mirrored = true});
    add(33, 217, {.row_height = 1, .row_width = 131, .left = 130, .height = 1, .width = 1});
    add(64, 64, {.row_height = 64, .row_width = 64});
    add(64, 64, {.row_height = 65, .row_width = 129}, {3, 5, 50, 20});
    add(200, 120,
        {.row_height = 149, .row_width = 131, .top = 149 - 70, .height = 70, .width = 131},
        {100, 20, 99, 100});
    add(9, 9, {.row_height = 17, .row_width = 65, .height = 17, .width = 65, .mirrored = true});
  }
  const decoded_images seen = decode_on_gpu(row, images);
  REQUIRE(seen.rows.size() == images.size());
  for (std::size_t i = 0; i < images.size(); ++i) {
    CAPTURE(i);
    CHECK(seen.good[i]);
    CHECK(
        (seen.rows[i] == decode_on_cpu(row, images[i].stored, images[i].window, images[i].in_row)));
  }
}

TEST_CASE("sized images on the GPU: positions outside of a row are not written",
          "[cuda][decode][gpu]") {
  FEEDLINE_NEEDS_GPU();
  const image_row row{.height = 20, .width = 30};
  const std::vector<arriving_image> images{
      arriving(20, 30, false, {.row_height = 21, .row_width = 30, .height = 20, .width = 30}),
      arriving(20, 30, false, {.top = 1, .height = 20, .width = 30}),
      arriving(20, 30, false, {.left = 1, .height = 20, .width = 30}),
      arriving(20, 30, false, {.height = 20, .width = 30})};
  const decoded_images seen = decode_on_gpu(row, images);
  CHECK(seen.good == std::vector<bool>{false, false, false, true});
  for (std::size_t i = 0; i < 3; ++i)
    CHECK(seen.rows[i] == byte_vector(seen.rows[i].size(), std::byte{0x5A}));
}

TEST_CASE("sized images on the GPU: batches are those of readers", "[cuda][decode][gpu][long]") {
  FEEDLINE_NEEDS_GPU();
  const temporary_directory folder;
  const std::string root = write_photos(folder);
  for (const auto& [name, image] : sized_kinds(3)) {
    CAPTURE(name);
    const dataset_ptr data = open_image_folder(root, {.image = image}).dataset;
    for (const bool transforms : {false, true}) {
      const auto options = [&](decode_on who, int readers) {
        loader_options made{.batch_size = 13, .readers = readers, .decode_on = who, .seed = 6};
        if (transforms)
          made.transforms = {{.field = "image",
                              .to = element_type::f16,
                              .scale = 1 / 255.0,
                              .mean = {0.4, 0.5, 0.6},
                              .stddev = {0.2, 0.25, 0.3},
                              .layout = image.layout,
                              .to_layout = image_layout::chw,
                              .flip = image.fit == image_fit::stretch ? 0.5 : 0}};
        return made;
      };
      const delivered_epochs expected =
          take_epochs(data, shuffle{.seed = 3}, options(decode_on::cpu, 4));
      for (const int readers : {0, 3})
        check_same(take_epochs(data, shuffle{.seed = 3}, options(decode_on::device, readers)),
                   expected);
    }
  }
}

TEST_CASE("sized images on the GPU: ranks get their own batches", "[cuda][decode][gpu]") {
  FEEDLINE_NEEDS_GPU();
  const temporary_directory folder;
  const dataset_ptr data =
      open_image_folder(write_photos(folder), {.image = sized_kinds(3)[1].second}).dataset;
  check_ranks(data, shuffle{.seed = 3});
}
