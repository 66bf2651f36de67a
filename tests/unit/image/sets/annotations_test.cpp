/// Images with boxes and key points, which move as their images do.

#include <feedline/dataset/select.hpp>
#include <feedline/error.hpp>
#include <feedline/image/annotations.hpp>
#include <feedline/sampler/shuffle.hpp>

#include "image/sets/moved_boxes.hpp"
#include "support/checks/contains.hpp"
#include "support/checks/log_capture.hpp"
#include "support/checks/message_of.hpp"
#include "support/files/temporary_directory.hpp"
#include "unit/image/annotated_images.hpp"
#include "unit/image/decoded_images.hpp"

#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <vector>

using namespace feedline;
using namespace feedline::test;

namespace {

class photos {
 public:
  /// Adds a JPEG of a rectangle. @return It, annotated with the rectangle and others.
  annotated_image add(std::uint32_t height, std::uint32_t width, const std::vector<box>& boxes) {
    const auto id = static_cast<std::int64_t>(count_++);
    const std::string name = std::to_string(id) + ".jpg";
    folder_.write(name, jpeg_bytes(with_rectangle(height, width, boxes.at(0)),
                                   {.quality = 95, .halves_chroma = false}));
    return {.path = path(name),
            .id = id + 1000,
            .height = height,
            .width = width,
            .boxes = boxes,
            .labels = std::vector<std::int32_t>(boxes.size(), static_cast<std::int32_t>(id))};
  }
  std::string path(const std::string& name) const { return (folder_.path() / name).string(); }

 private:
  temporary_directory folder_;
  std::uint64_t count_ = 0;
};

const image_options small_image{.height = 50, .width = 80};

dataset_ptr made(const std::vector<annotated_image>& images, const annotation_options& options) {
  return make_annotated_dataset(images, options).dataset;
}

std::string refusal(const annotated_image& image, const annotation_options& options = {}) {
  return message_of<dataset_error>([&] { (void)made({image}, options); });
}

/// The bounds of what is white in an image of bytes or of 0 to 255; nothing if nothing is.
template <class Value>
std::optional<box> bounds_of(std::span<const Value> image, std::size_t height, std::size_t width) {
  std::optional<box> bounds;
  for (std::size_t y = 0; y < height; ++y)
    for (std::size_t x = 0; x < width; ++x) {
      if (image[3 * (y * width + x)] < Value{128}) continue;
      const auto left = static_cast<float>(x);
      const auto top = static_cast<float>(y);
      if (!bounds) bounds = box{left, top, left, top};
      *bounds = {std::min((*bounds)[0], left), std::min((*bounds)[1], top),
                 std::max((*bounds)[2], left + 1), std::max((*bounds)[3], top + 1)};
    }
  return bounds;
}

}  // namespace

TEST_CASE("boxes: a resize and a cut move boxes, in every format", "[dataset][host]") {
  photos folder;
  const annotated_image image = folder.add(100, 160, {{16, 20, 48, 60}, {100, 40, 160, 90}});
  struct row {
    annotation_options options;
    std::vector<box> wanted;
  };
  const std::vector<row> rows{
      {{.image = small_image}, {{8, 10, 24, 30}, {50, 20, 80, 45}}},
      {{.image = small_image, .format = box_format::xywh}, {{8, 10, 16, 20}, {50, 20, 30, 25}}},
      {{.image = small_image, .format = box_format::cxcywh},
       {{16, 20, 16, 20}, {65, 32.5F, 30, 25}}},
      {{.image = small_image, .normalized = true},
       {{0.1F, 0.2F, 0.3F, 0.6F}, {0.625F, 0.4F, 1, 0.9F}}},
      {{.image = small_image, .format = box_format::cxcywh, .normalized = true},
       {{0.2F, 0.4F, 0.2F, 0.4F}, {0.8125F, 0.65F, 0.375F, 0.5F}}},
      // Shorter side 50: 50 x 80, and columns 20 to 60 of it; rows 0 to 50.
      {{.image = {.height = 50, .width = 40, .shorter_side = 50}},
       {{0, 10, 4, 30}, {30, 20, 40, 45}}},
      {{.image = {.height = 50, .width = 40, .shorter_side = 50}, .min_visible = 0.25},
       {{0, 10, 4, 30}, {30, 20, 40, 45}}},
      {{.image = {.height = 50, .width = 40, .shorter_side = 50}, .min_visible = 0.26},
       {{30, 20, 40, 45}}},
      {{.image = {.height = 50, .width = 16, .shorter_side = 50}}, {}},
  };
  for (const row& each : rows) {
    const dataset_ptr data = made({image}, each.options);
    CHECK_FALSE(data->varies_by_epoch());
    const std::vector<box> boxes = boxes_of(*data, 0);
    REQUIRE(boxes.size() == each.wanted.size());
    for (std::size_t i = 0; i < boxes.size(); ++i)
      for (std::size_t k = 0; k < 4; ++k) CHECK(boxes[i][k] == Approx(each.wanted[i][k]));
    // After the used ones boxes are 0 and labels -1.
    const auto all = field_of<float>(*data, 0, "boxes");
    const auto labels = field_of<std::int32_t>(*data, 0, "labels");
    REQUIRE(all.size() == 4 * labels.size());
    for (std::size_t i = 0; i < labels.size(); ++i) {
      CHECK(labels[i] == (i < boxes.size() ? 0 : -1));
      if (i >= boxes.size()) CHECK(all[4 * i + 2] == 0);
    }
    CHECK(field_of<std::int64_t>(*data, 0, "image_id") == std::vector<std::int64_t>{1000});
    CHECK(field_of<std::int32_t>(*data, 0, "size") == std::vector<std::int32_t>{100, 160});
  }
}

TEST_CASE("boxes: windows and flips move boxes with the pixels, on devices, too",
          "[loader][host]") {
  photos folder;
  std::vector<annotated_image> all;
  for (std::uint32_t i = 0; i < images; ++i) {
    const auto left = static_cast<float>(20 + i);
    const auto top = static_cast<float>(15 + i / 2);
    all.push_back(folder.add(90 + i, 150 - i, {{left, top, left + 40, top + 30}}));
    if (i % 2 == 0) {
      all.back().boxes.push_back({0, 0, 5, 5});
      all.back().labels.push_back(99);
    }
  }
  const annotation_options options{
      .image = {.height = 48, .width = 64, .resized_crop = crop_ranges{.scale = {0.1, 0.8}}},
      .flip = 0.5};
  const dataset_ptr data = made(all, options);
  CHECK(data->varies_by_epoch());
  loader_options loading{.batch_size = 8, .readers = 2, .seed = 5};
  loading.transforms = {{.field = "image", .layout = image_layout::hwc, .flip = 0.5}};
  check_same(data, shuffle{.seed = 4}, loading, 2);
  const run seen = deliver(data, decode_on::device, shuffle{.seed = 4}, loading, 4);
  REQUIRE(seen.error == std::nullopt);
  enum : std::size_t { image, image_id, size, boxes, length, labels, fields };
  REQUIRE(seen.fields.size() % fields == 0);
  std::size_t kept = 0;
  std::size_t dropped = 0;
  for (std::size_t batch = 0; batch < seen.fields.size(); batch += fields) {
    const auto pixels = values_of<float>(seen.fields[batch + image]);
    const auto numbers = values_of<float>(seen.fields[batch + boxes]);
    const auto names = values_of<std::int32_t>(seen.fields[batch + labels]);
    const auto counts = values_of<std::int32_t>(seen.fields[batch + length]);
    for (std::size_t i = 0; i < counts.size(); ++i) {
      const std::size_t pixel_count = 3 * 48 * 64;
      const auto white =
          bounds_of(std::span<const float>{pixels}.subspan(i * pixel_count, pixel_count), 48, 64);
      std::optional<box> found;
      for (std::size_t k = 0; k < static_cast<std::size_t>(counts[i]); ++k)
        if (names[2 * i + k] != 99) {
          found.emplace();
          std::copy_n(numbers.begin() + static_cast<std::ptrdiff_t>(4 * (2 * i + k)), 4,
                      found->begin());
        }
      const bool is_thin =
          found && ((*found)[2] - (*found)[0] < 2 || (*found)[3] - (*found)[1] < 2);
      if (is_thin) continue;  // no pixel need be white
      REQUIRE(white.has_value() == found.has_value());
      (found ? kept : dropped) += 1;
      for (std::size_t k = 0; found && k < 4; ++k) CHECK(std::abs((*found)[k] - (*white)[k]) < 2);
    }
  }
  CHECK(kept > 100);
  CHECK(dropped > 3);
  // Another flip of the pixels, or none, is refused.
  for (const double other : {0.0, 0.25}) {
    loading.transforms[0].flip = other;
    CHECK(contains(message_of<usage_error>([&] {
                     (void)deliver(data, decode_on::cpu, shuffle{.seed = 4}, loading, 1);
                   }),
                   "transforms: field 'boxes' belongs to 'image', but that image is flipped"));
  }
  const dataset_ptr renamed = select(data, {{"image", "photo"}, {"boxes", {}}});
  CHECK(renamed->fields()[1].tie == image_tie{.image = "photo", .flip = 0.5});
}

TEST_CASE("boxes: a sample that replaces another one has its own flip", "[loader][host]") {
  photos folder;
  std::vector<annotated_image> all;
  for (std::uint32_t i = 0; i < images; ++i) all.push_back(folder.add(40, 60, {{2, 3, 20, 30}}));
  for (std::uint32_t i = 0; i < images; i += 5) all[i].height = 41;  // these are refused
  const dataset_ptr data = made(all, {.image = {.height = 40, .width = 60}, .flip = 0.5});
  loader_options loading{.batch_size = 8, .readers = 2, .seed = 5};
  loading.transforms = {{.field = "image", .layout = image_layout::hwc, .flip = 0.5}};
  loading.errors = {.action = error_action::skip, .max_share = 1};
  const run seen = deliver(data, decode_on::cpu, shuffle{.seed = 4}, loading, 2);
  REQUIRE(seen.error == std::nullopt);
  REQUIRE(seen.fields.size() == 2 * 6 * 4);
  std::size_t flipped = 0;
  for (std::size_t batch = 0; batch < seen.fields.size(); batch += 6) {
    const auto pixels = values_of<float>(seen.fields[batch]);
    const auto numbers = values_of<float>(seen.fields[batch + 3]);
    for (std::size_t i = 0; i < 8; ++i) {
      const std::size_t count = 3 * 40 * 60;
      const auto white =
          bounds_of(std::span<const float>{pixels}.subspan(i * count, count), 40, 60);
      REQUIRE(white);
      CHECK(std::abs((*white)[0] - numbers[4 * i]) < 2);
      flipped += numbers[4 * i] > 10 ? 1 : 0;
    }
  }
  CHECK(flipped > 10);
  CHECK(flipped < 54);
}

TEST_CASE("boxes: one up to the window's edge is whole, and nothing is left of one beyond it",
          "[dataset][host]") {
  for (std::uint32_t side = 1; side < 2000; ++side)
    for (const std::uint32_t to : {224U, 640U, 800U})
      for (const bool flipped : {false, true}) {
        const detail::moved_coordinates by{
            {{.resized = {to, to}, .extents = {to, to}, .source = {0, side, {side, side}}},
             {to, to}},
            {2 * side, 3 * side},
            flipped};
        const auto n = static_cast<float>(side);
        const auto seen = by.move({n, 0, 2 * n, n});
        const bool is_whole =
            seen.visible == 1 && seen.box == std::array<double, 4>{0, 0, 1.0 * to, 1.0 * to};
        if (!is_whole || by.move({2 * n, 0, 3 * n, n}).visible > 0 ||
            by.move({0, 0, n, n}).visible > 0 || by.move({n, n, 2 * n, 2 * n}).visible > 0)
          FAIL_CHECK(side << " pixels to " << to);
        double x = 2 * n;
        double y = n;
        if (by.move_point(x, y)) FAIL_CHECK("a point beyond " << side << " pixels to " << to);
      }
}

TEST_CASE("boxes: points go with their boxes, and are 0 outside", "[dataset][host]") {
  photos folder;
  annotated_image image = folder.add(100, 160, {{16, 20, 48, 60}, {0, 0, 10, 10}});
  image.keypoints = {20, 30, 2, 120, 60, 1, 0, 0, 0,  // the first box's
                     5,  5,  2, 5,   5,  2, 5, 5, 2};
  const auto points = [&](const annotation_options& options) {
    return field_of<float>(*made({image}, options), 0, "keypoints");
  };
  CHECK((points({.image = small_image}) ==
         std::vector<float>{10, 15, 2, 60, 30, 1, 0, 0, 0, 2.5, 2.5, 2, 2.5, 2.5, 2, 2.5, 2.5, 2}));
  CHECK((points({.image = small_image, .normalized = true})[0] == 0.125F));
  // Columns 20 to 60 of 80: the first box is cut, with one point inside; the second one is dropped.
  image.keypoints[3] = 118;
  CHECK((points({.image = {.height = 50, .width = 40, .shorter_side = 50}}) ==
         std::vector<float>{0, 0, 0, 39, 30, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}));
  // A flip moves a point to W - 1 - x.
  const detail::moved_coordinates flipped{{{{50, 80}, 0, 0, {50, 80}}, {50, 80}}, {50, 80}, true};
  double x = 10;
  double y = 15;
  CHECK(flipped.move_point(x, y));
  CHECK(x == 69);
  CHECK(y == 15);
  const auto part = flipped.move({10, 20, 30, 40});
  CHECK((part.box == std::array<double, 4>{50, 20, 70, 40}));
  CHECK(part.visible == 1);
}

TEST_CASE("boxes: flagged boxes and images without boxes may be left out", "[dataset][host]") {
  photos folder;
  annotated_image one = folder.add(100, 160, {{16, 20, 48, 60}, {0, 0, 10, 10}, {5, 5, 20, 20}});
  one.flags = {0, 1, 0};
  annotated_image other = folder.add(100, 160, {{16, 20, 48, 60}});
  other.flags = {1};
  const dataset_ptr all = made({one, other}, {.image = small_image});
  CHECK(field_of<std::uint8_t>(*all, 0, "flags") == std::vector<std::uint8_t>{0, 1, 0});
  CHECK(field_of<std::uint8_t>(*all, 1, "flags") == std::vector<std::uint8_t>{1, 0, 0});
  const annotated_images some =
      make_annotated_dataset({one, other}, {.image = small_image, .skip_flagged = true});
  CHECK(boxes_of(*some.dataset, 0).size() == 2);
  CHECK(boxes_of(*some.dataset, 1).empty());
  const annotated_images few = make_annotated_dataset(
      {one, other}, {.image = small_image, .skip_flagged = true, .skip_empty = true});
  CHECK(few.dataset->size() == 1);
  CHECK(few.paths == std::vector{one.path});
  const dataset_ptr cut =
      made({one}, {.image = small_image, .max_boxes = 2, .longer = pad_longer::truncate});
  CHECK(boxes_of(*cut, 0).size() == 2);
  CHECK(boxes_of(*made({one}, {.image = small_image, .max_boxes = 7}), 0).size() == 3);
  CHECK(refusal(one, {.max_boxes = 2}) ==
        one.path +
            ": image 1000 has 3 boxes, and annotation_options::max_boxes is 2; raise it, or "
            "set longer to truncate");
}

TEST_CASE("boxes: a size that is not given is the file's", "[dataset][host]") {
  photos folder;
  annotated_image image = folder.add(100, 160, {{16, 20, 48, 60}});
  image.height = image.width = 0;
  const dataset_ptr data = made({image}, {.image = small_image});
  CHECK(field_of<std::int32_t>(*data, 0, "size") == std::vector<std::int32_t>{100, 160});
  CHECK((boxes_of(*data, 0) == std::vector<box>{{8, 10, 24, 30}}));
  image.path = folder.path("none.jpg");
  CHECK(refusal(image) == image.path + ": there is no such file, for image 1000");
}

TEST_CASE("boxes: what is wrong with boxes is refused, or counted, with path and id",
          "[dataset][host]") {
  photos folder;
  const annotated_image good = folder.add(100, 160, {{16, 20, 48, 60}});
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const auto with = [&](const box& bad) {
    annotated_image image = good;
    image.boxes[0] = bad;
    const std::string words = refusal(image);
    const std::string begin = good.path + ": image 1000 has box 0, ";
    return words.starts_with(begin) ? words.substr(begin.size()) : words;
  };
  CHECK(with({nan, 0, 1, 1}) == "nan 0 1 1, which is not finite");
  CHECK(with({0, 0, INFINITY, 1}) == "0 0 inf 1, which is not finite");
  CHECK(with({10, 0, 5, 1}) == "10 0 5 1, of negative size");
  CHECK(with({200, 0, 250, 10}) == "200 0 250 10, which is outside of its 160 x 100 pixels");
  CHECK(with({-9, -9, -1, -1}) == "-9 -9 -1 -1, which is outside of its 160 x 100 pixels");
  annotated_image bad = good;
  bad.labels = {-1};
  CHECK(contains(refusal(bad), "with label -1; labels count from 0"));
  bad.labels = {1, 2};
  CHECK(contains(refusal(bad), "image 1000 has 1 boxes, but 2 labels"));
  bad = good;
  bad.flags = {1, 1};
  CHECK(contains(refusal(bad), "image 1000 has 1 boxes, but 2 flags"));
  bad = good;
  bad.keypoints = {1, 2};
  CHECK(contains(refusal(bad), "has 2 numbers of key points for 1 boxes"));
  bad.keypoints = {1, nan, 2};
  CHECK(contains(refusal(bad), "with a key point that is not finite"));
  bad = good;
  bad.width = 0;
  CHECK(contains(refusal(bad), "image 1000 has the size 0 x 100"));
  CHECK(contains(message_of<dataset_error>([&] {
                   (void)made({good, good}, {});
                 }),
                 "has the id 1000, like " + good.path));
  const auto misuse = [&](const annotation_options& options) {
    return message_of<usage_error>([&] { (void)made({good}, options); });
  };
  CHECK(misuse({.flip = 1.5}) == "annotation_options::flip is 1.5, but must be 0 to 1");
  CHECK(misuse({.affine = random_affine{.degrees = {2, 1}}}) ==
        "transform of field 'image': affine.degrees is 2 to 1: say a range within -360 to 360");
  CHECK(misuse({.flip_pairs = {{0, 1}}}) ==
        "annotation_options::flip_pairs has point 0, but images have 0 key points a box, counted "
        "from 0");
  CHECK(misuse({.min_visible = nan}) ==
        "annotation_options::min_visible is nan, but must be 0 to 1");
  CHECK(contains(misuse({.image = {.height = 0}}), "image_options::height"));
  CHECK(contains(message_of<usage_error>([&] { (void)made({}, {}); }), "there is no image"));

  annotated_image counted = good;
  counted.boxes = {{16, 20, 48, 60}, {150, 90, 170, 100.25F}, {5, 5, 5, 9}, {0, 0, 160.25F, 100}};
  counted.labels = {1, 2, 3, 4};
  const log_capture log;
  const annotated_images opened = make_annotated_dataset({counted}, {.image = small_image});
  CHECK(opened.clipped_boxes == 1);
  CHECK(opened.dropped_boxes == 1);
  CHECK((boxes_of(*opened.dataset, 0) ==
         std::vector<box>{{8, 10, 24, 30}, {75, 45, 80, 50}, {0, 0, 80, 50}}));
  CHECK(opened.examples ==
        std::vector<std::string>{
            good.path + ": image 1000 has box 1, 150 90 170 100.25, which reaches out of its 160 x "
                        "100 pixels",
            good.path + ": image 1000 has box 2, 5 5 5 9, which has no area"});
  CHECK(contains(log.text(), "1 boxes reach out of their images and are clipped, 1 have no area"));

  // A size that the file does not have.
  bad = good;
  bad.height = 101;
  const dataset_ptr wrong = made({bad}, {.image = small_image});
  CHECK(message_of<dataset_error>([&] { (void)read_sample(*wrong, {0}); }) ==
        good.path +
            ": field 'image', sample 0: it is 160 x 100 pixels, but its annotation says 160 x 101");
}
