/// Boxes and key points that follow an image's flip, rotation and perspective.

#include <feedline/error.hpp>
#include <feedline/image/annotations.hpp>
#include <feedline/sampler/shuffle.hpp>

#include "image/sets/moved_boxes.hpp"
#include "support/checks/contains.hpp"
#include "support/checks/message_of.hpp"
#include "support/files/temporary_directory.hpp"
#include "transform/operations/random_perspective.hpp"
#include "unit/image/annotated_images.hpp"
#include "unit/image/decoded_images.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

using namespace feedline;
using namespace feedline::test;

namespace {

constexpr std::uint32_t height = 90;
constexpr std::uint32_t width = 130;

/// Images of a white rectangle, whose four corners are its key points.
std::vector<annotated_image> rectangles(const temporary_directory& folder) {
  std::vector<annotated_image> all;
  for (std::uint32_t i = 0; i < images; ++i) {
    const auto left = static_cast<float>(30 + i);
    const auto top = static_cast<float>(20 + i / 2);
    const box bounds{left, top, left + 34, top + 26};
    const std::string name = std::to_string(i) + ".jpg";
    folder.write(name, jpeg_bytes(with_rectangle(height, width, bounds),
                                  {.quality = 95, .halves_chroma = false}));
    all.push_back({.path = (folder.path() / name).string(),
                   .id = i,
                   .boxes = {bounds},
                   .labels = {1},
                   .keypoints = {bounds[0], bounds[1], 2, bounds[2] - 1, bounds[1], 2,
                                 bounds[2] - 1, bounds[3] - 1, 2, bounds[0], bounds[3] - 1, 2}});
  }
  return all;
}

}  // namespace

TEST_CASE("boxes: they follow rotation and perspective of the pixels, on devices, too",
          "[loader][host]") {
  const temporary_directory folder;
  const random_affine affine{.degrees = {-40, 40},
                             .translate = {0.1, 0.1},
                             .scale = {0.8, 1.3},
                             .interpolation = interpolation::bilinear};
  const random_perspective perspective{.distortion_scale = 0.3, .probability = 0.7};
  const annotation_options options{.image = {.height = height, .width = width},
                                   .flip = 0.5,
                                   .affine = affine,
                                   .perspective = perspective,
                                   .min_visible = 0.999};
  const dataset_ptr data = make_annotated_dataset(rectangles(folder), options).dataset;
  CHECK(data->varies_by_epoch());
  loader_options loading{.batch_size = 8, .readers = 2, .seed = 5};
  field_transform moved{.field = "image", .layout = image_layout::hwc, .flip = 0.5};
  moved.affine = affine;
  moved.perspective = perspective;
  loading.transforms = {moved};
  check_same(data, shuffle{.seed = 4}, loading, 2);
  const run seen = deliver(data, decode_on::device, shuffle{.seed = 4}, loading, 4);
  REQUIRE(seen.error == std::nullopt);
  enum : std::size_t { image, image_id, size, boxes, length, labels, keypoints, fields };
  REQUIRE(seen.fields.size() % fields == 0);
  std::size_t kept = 0;
  for (std::size_t batch = 0; batch < seen.fields.size(); batch += fields) {
    const auto pixels = values_of<float>(seen.fields[batch + image]);
    const auto numbers = values_of<float>(seen.fields[batch + boxes]);
    const auto points = values_of<float>(seen.fields[batch + keypoints]);
    const auto counts = values_of<std::int32_t>(seen.fields[batch + length]);
    for (std::size_t i = 0; i < counts.size(); ++i) {
      if (counts[i] == 0) continue;
      ++kept;
      std::array<double, 4> white{1e9, 1e9, 0, 0};
      for (std::uint32_t at = 0; at < height * width; ++at) {
        if (pixels[(i * height * width + at) * 3] < 128) continue;
        const double x = at % width;
        const double y = at / width;  // NOLINT(bugprone-integer-division)
        white = {std::min(white[0], x), std::min(white[1], y), std::max(white[2], x + 1),
                 std::max(white[3], y + 1)};
      }
      for (std::size_t k = 0; k < 4; ++k)
        if (std::abs(white[k] - double{numbers[4 * i + k]}) > 2)
          FAIL_CHECK("edge " << k << " at " << numbers[4 * i + k] << ", white at " << white[k]);
      // The corners reach as far as the box.
      for (std::size_t axis = 0; axis < 2; ++axis) {
        float least = 1e9F;
        float most = 0;
        for (std::size_t k = 0; k < 4; ++k) {
          const float at = points[(i * 4 + k) * 3 + axis];
          least = std::min(least, at);
          most = std::max(most, at);
        }
        CHECK(std::abs(least - numbers[4 * i + axis]) < 2);
        CHECK(std::abs(most - numbers[4 * i + 2 + axis]) < 3);
      }
    }
  }
  CHECK(kept > 60);
  // Pixels that move otherwise are refused.
  loading.transforms[0].affine->degrees.high = 41;
  CHECK(contains(message_of<usage_error>(
                     [&] { (void)deliver(data, decode_on::cpu, shuffle{.seed = 4}, loading, 1); }),
                 "transforms: field 'boxes' belongs to 'image', but that image is moved by"));
}

TEST_CASE("boxes: a flip exchanges the points of a pair", "[loader][host]") {
  const temporary_directory folder;
  const std::vector<annotated_image> all = rectangles(folder);
  const auto points_with = [&](double flip,
                               const std::vector<std::array<std::uint64_t, 2>>& pairs) {
    const annotation_options options{
        .image = {.height = height, .width = width}, .flip = flip, .flip_pairs = pairs};
    const dataset_ptr data = make_annotated_dataset(all, options).dataset;
    loader_options loading{.batch_size = 40, .readers = 0, .seed = 5};
    loading.transforms = {{.field = "image", .layout = image_layout::hwc, .flip = flip}};
    const run seen = deliver(data, decode_on::cpu, shuffle{.seed = 4}, loading, 1);
    REQUIRE(seen.error == std::nullopt);
    return values_of<float>(seen.fields.at(6));
  };
  const std::vector<float> still = points_with(0, {{0, 1}, {2, 3}});
  const std::vector<float> flipped = points_with(1, {});
  const std::vector<float> exchanged = points_with(1, {{0, 1}, {3, 2}});
  CHECK(points_with(0, {}) == still);
  REQUIRE(flipped.size() == std::size_t{images} * 4 * 3);
  for (std::size_t i = 0; i < flipped.size(); i += 3) {
    CHECK(flipped[i] == width - 1 - still[i]);
    const std::size_t partner = i / 3 % 2 == 0 ? i + 3 : i - 3;
    for (std::size_t k = 0; k < 3; ++k) CHECK(exchanged[i + k] == flipped[partner + k]);
  }
  annotation_options wrong{.image = {.height = height, .width = width}};
  const auto refusal = [&] {
    return message_of<usage_error>([&] { (void)make_annotated_dataset(all, wrong); });
  };
  wrong.flip_pairs = {{0, 4}};
  CHECK(refusal() ==
        "annotation_options::flip_pairs has point 4, but images have 4 key points a box, counted "
        "from 0");
  wrong.flip_pairs = {{0, 1}, {1, 2}};
  CHECK(refusal() == "annotation_options::flip_pairs has point 1 twice; a point has one partner");
  wrong.flip_pairs = {{3, 3}};
  CHECK(refusal() == "annotation_options::flip_pairs has point 3 twice; a point has one partner");
}

TEST_CASE("boxes: a box that moves half out of its image is half visible", "[dataset][host]") {
  // Half of the image is moved out of it, to the right.
  const detail::pixel_map shift = detail::pixel_map::of(0, 50, 0, 1, 0, 0);
  detail::pixel_map moves;
  moves.then(shift);
  const detail::moved_coordinates by{
      {{{80, 100}, 0, 0, {80, 100}}, {80, 100}}, {80, 100}, false, moves};
  const auto part = by.move({40, 10, 60, 30});
  CHECK(part.box == std::array<double, 4>{90, 10, 100, 30});
  CHECK(part.visible == Approx(0.5));
  CHECK_FALSE(by.move({60, 10, 80, 30}).visible > 0);
  double x = 55;
  double y = 5;
  CHECK_FALSE(by.move_point(x, y));
}
