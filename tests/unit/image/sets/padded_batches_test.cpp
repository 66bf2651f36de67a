/// Images that keep their shape: letterboxed, or padded to the largest of their batch. The oracle
/// writes images of their own size, which a decoder of one size gives, to where they belong.

#include <feedline/image/annotations.hpp>
#include <feedline/image/folder.hpp>
#include <feedline/image/joined.hpp>
#include <feedline/image/list.hpp>
#include <feedline/image/sizes.hpp>
#include <feedline/sampler/sequential.hpp>
#include <feedline/sampler/shuffle.hpp>

#include "support/checks/contains.hpp"
#include "support/checks/log_capture.hpp"
#include "support/checks/message_of.hpp"
#include "unit/image/annotated_images.hpp"
#include "unit/image/sets/sized_batches.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

using namespace feedline;
using namespace feedline::test;

namespace {

const image_options padded{
    .height = 64, .width = 64, .fit = image_fit::pad, .size_divisible = 16, .fill = {1, 2, 3}};

/// Height and width of an image within a room, which it does not exceed.
image_size limited(image_size of, image_size room) {
  if (of.height <= room.height && of.width <= room.width) return of;
  const double scale =
      std::min(double{1} * room.height / of.height, double{1} * room.width / of.width);
  return {std::max(1U, static_cast<std::uint32_t>(of.height * scale + 1e-9)),
          std::max(1U, static_cast<std::uint32_t>(of.width * scale + 1e-9))};
}

/// Pixels of a file, resized to exactly this.
std::vector<std::byte> shown(const std::string& path, image_size size) {
  const auto fixed = make_annotated_dataset(
      {{.path = path}}, {.image = {.height = size.height, .width = size.width}});
  return read_sample(*fixed.dataset, {0})[0];
}

/// Pixels at the top left of the fill, or in the middle; mirrored if that is wanted.
std::vector<std::byte> placed(const std::vector<std::byte>& from, image_size size, image_size in,
                              bool in_middle = false, bool mirrored = false) {
  std::vector<std::byte> all(3 * in.pixels());
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = std::byte{padded.fill[i % 3]};
  const std::uint32_t top = in_middle ? (in.height - size.height) / 2 : 0;
  const std::uint32_t left = in_middle ? (in.width - size.width) / 2 : 0;
  for (std::uint32_t y = 0; y < size.height; ++y)
    for (std::uint32_t x = 0; x < size.width; ++x) {
      const std::uint32_t source = mirrored ? size.width - 1 - x : x;
      std::copy_n(from.begin() + std::ptrdiff_t{3} * (y * size.width + source), 3,
                  all.begin() + std::ptrdiff_t{3} * ((top + y) * in.width + left + x));
    }
  return all;
}

std::uint32_t up(std::uint32_t side, std::uint32_t to = 16) {
  return (side + to - 1) / to * to;
}

void check_padded(const photo_tree& tree, const std::vector<seen_batch>& batches) {
  for (const seen_batch& each : batches) {
    image_size most;
    for (const std::uint64_t sample : each.samples) {
      const image_size size = limited(photo_size(sample), {64, 64});
      most = {std::max(most.height, size.height), std::max(most.width, size.width)};
    }
    const image_size in{up(most.height), up(most.width)};
    REQUIRE(each.size() == in);
    const auto sizes = values_of<std::int32_t>(each.fields[1].bytes);
    for (std::size_t i = 0; i < each.samples.size(); ++i) {
      const image_size size = limited(photo_size(each.samples[i]), {64, 64});
      CHECK(sizes[2 * i] == static_cast<std::int32_t>(size.height));
      CHECK(sizes[2 * i + 1] == static_cast<std::int32_t>(size.width));
      const auto expected = placed(shown(tree.path_of(each.samples[i]), size), size, in);
      const auto begin =
          each.fields[0].bytes.begin() + static_cast<std::ptrdiff_t>(i * expected.size());
      if (!std::equal(expected.begin(), expected.end(), begin))
        FAIL_CHECK("sample " << each.samples[i]);
    }
  }
}

}  // namespace

TEST_CASE("padded batches: as large as the largest image needs, and the rest is filled",
          "[loader][host]") {
  const photo_tree tree;
  const auto data = open_image_folder(tree.root(), {.image = padded}).dataset;
  CHECK(data->fields()[0].name == "image");
  CHECK(data->fields()[1].name == "image_size");
  CHECK(data->fields()[2].name == "label");
  std::vector<seen_batch> first;
  for (const on kind : {on::host, on::scripted})
    for (const int readers : {0, 3}) {
      const loader_options options{.batch_size = 3, .readers = readers};
      const auto batches = delivered(data, kind, shuffle{.seed = 8}, options);
      REQUIRE(batches.size() == 28);
      if (first.empty()) {
        check_padded(tree, batches);
        first = batches;
      }
      CHECK(batches == first);
    }
  loader loading{data, shuffle{.seed = 8}, make_host_device(), {.batch_size = 3}};
  std::uint64_t pixels = 0;
  std::uint64_t images = 0;
  for (const batch& each : loading.epoch(0)) {
    const auto shape = each["image"].shape();
    pixels += shape[0] * shape[1] * shape[2];
    for (const std::int32_t* size = each["image_size"].data<std::int32_t>();
         size < each["image_size"].data<std::int32_t>() + 2 * shape[0]; size += 2)
      images += static_cast<std::uint64_t>(size[0]) * static_cast<std::uint64_t>(size[1]);
  }
  const loader_statistics told = loading.statistics();
  CHECK(told.pixels == pixels);
  CHECK(told.padded_pixels == pixels - images);
  CHECK(contains(report(told), "% of the images' pixels are padding"));
}

TEST_CASE("padded batches: resumed and sharded", "[loader][host]") {
  const photo_tree tree;
  const auto data = open_images({tree.root()}, padded).dataset;
  loader_options options{.batch_size = 3, .seed = 4};
  const auto all = delivered(data, on::host, shuffle{}, options);
  loader first{data, shuffle{}, make_host_device(), options};
  loader_state state;
  for (const batch& each : first.epoch(0)) {
    if (each.index() == 4) break;
    state = first.state();
  }
  const auto rest = delivered(data, on::scripted, shuffle{}, options, 2, &state);
  CHECK((rest == std::vector<seen_batch>{all.begin() + static_cast<std::ptrdiff_t>(state.batch),
                                         all.end()}));
  for (const int rank : {0, 1, 2}) {
    options.shard = {.rank = rank, .world = 3};
    check_padded(tree, delivered(data, on::scripted, shuffle{}, options));
  }
}

TEST_CASE("padded batches: the shorter side is resized, within the largest size",
          "[loader][host]") {
  const photo_tree tree{10};
  image_options detection = padded;
  detection.shorter_side = 40;
  const auto data = open_images({tree.root()}, detection).dataset;
  for (const seen_batch& each : delivered(data, on::host, sequential{}, {.batch_size = 1}, 1)) {
    const image_size stored = photo_size(each.samples[0]);
    const std::uint32_t shorter = std::min(stored.height, stored.width);
    const std::uint32_t longer = std::max(stored.height, stored.width);
    const bool is_limited = longer * 40 / shorter > 64;
    const auto scaled = [&](std::uint32_t side) {
      return static_cast<std::int32_t>(is_limited ? side * 64 / longer : side * 40 / shorter);
    };
    const auto sizes = values_of<std::int32_t>(each.fields[1].bytes);
    CHECK(sizes[0] == scaled(stored.height));
    CHECK(sizes[1] == scaled(stored.width));
  }
}

TEST_CASE("padded batches: a replacement sample is made as small as its batch needs",
          "[loader][host]") {
  const photo_tree tree;
  tree.add(0, byte_vector(200));
  const log_capture log;
  const auto data = open_images({tree.root()}, padded).dataset;
  CHECK(contains(log.text(), "1 of 40 files have no header"));
  // Sample 30, of 62 x 64 pixels within 64 x 64, replaces the first one. Then a batch of it alone
  // has no known size, so it has the least.
  const auto batches = delivered(
      data, on::scripted, sequential{},
      {.batch_size = 1, .errors = {.action = error_action::substitute, .substitute = 30}}, 1);
  CHECK((batches[0].size() == image_size{16, 16}));
  const auto sizes = values_of<std::int32_t>(batches[0].fields[1].bytes);
  CHECK(std::max(sizes[0], sizes[1]) == 16);
  CHECK(batches[0].samples[0] == 30);
}

TEST_CASE("padded batches: larger images are refused if that is wanted", "[loader][host]") {
  const photo_tree tree;
  image_options strict = padded;
  strict.larger = larger_image::error;
  const auto data = open_images({tree.root()}, strict).dataset;
  CHECK(contains(message_of<stage_error>(
                     [&] { (void)delivered(data, on::host, sequential{}, {.batch_size = 4}, 1); }),
                 "image_options::larger"));
  loader loading{data,
                 sequential{},
                 make_host_device(),
                 {.batch_size = 4, .errors = {.action = error_action::skip, .max_share = 1}}};
  std::uint64_t samples = 0;
  for (const batch& each : loading.epoch(0)) samples += each.size();
  std::uint64_t fitting = 0;
  for (std::uint64_t i = 0; i < tree.count(); ++i)
    fitting += std::max(photo_size(i).height, photo_size(i).width) <= 64 ? 1 : 0;
  CHECK(samples == fitting);
}

TEST_CASE("padded batches: readers mirror images within their own width, masks and boxes with them",
          "[loader][host]") {
  const photo_tree tree{12};
  image_options mirrored = padded;
  mirrored.flip = 1;
  const auto data = open_images({tree.root()}, mirrored).dataset;
  for (const seen_batch& each : delivered(data, on::host, sequential{}, {.batch_size = 2}, 1))
    for (std::size_t i = 0; i < each.samples.size(); ++i) {
      const image_size size = limited(photo_size(each.samples[i]), {64, 64});
      const auto expected =
          placed(shown(tree.path_of(each.samples[i]), size), size, each.size(), false, true);
      CHECK(std::equal(
          expected.begin(), expected.end(),
          each.fields[0].bytes.begin() + static_cast<std::ptrdiff_t>(i * expected.size())));
    }

  std::vector<annotated_image> images;
  for (std::uint64_t i = 0; i < tree.count(); ++i)
    images.push_back({.path = tree.path_of(i),
                      .id = static_cast<std::int64_t>(i),
                      .boxes = {{2, 3, 10, 12}},
                      .labels = {0}});
  const auto boxed =
      make_annotated_dataset(images, {.image = padded, .flip = 1, .min_visible = 0.5});
  const auto names = boxed.dataset->fields();
  REQUIRE(names[1].name == "image_size");
  const auto place =
      static_cast<std::size_t>(std::ranges::find(names, "boxes", &field::name) - names.begin());
  for (const seen_batch& each :
       delivered(boxed.dataset, on::scripted, sequential{}, {.batch_size = 2}, 1))
    for (std::size_t i = 0; i < each.samples.size(); ++i) {
      const image_size stored = photo_size(each.samples[i]);
      const image_size size = limited(stored, {64, 64});
      const float scale = static_cast<float>(size.width) / static_cast<float>(stored.width);
      const auto found = values_of<float>(each.fields[place].bytes);
      CHECK(found[4 * i] == Approx(static_cast<float>(size.width) - 10 * scale));
      CHECK(found[4 * i + 2] == Approx(static_cast<float>(size.width) - 2 * scale));
    }
  // A flip of the transform would move the padding.
  CHECK(contains(
      message_of<usage_error>([&] {
        loader{data,
               sequential{},
               make_host_device(),
               {.batch_size = 2,
                .transforms = {{.field = "image", .layout = image_layout::hwc, .flip = 0.5}}}};
      }),
      "image_options::flip"));
}

TEST_CASE("padded batches: images and masks have one size, and masks a fill of their own",
          "[loader][host]") {
  const temporary_directory folder;
  for (const char* name : {"images", "masks"})
    std::filesystem::create_directories(folder.path() / name);
  for (std::uint64_t i = 0; i < 6; ++i) {
    const auto [height, width] = photo_size(i);
    folder.write("images/" + std::to_string(i) + ".png", png_bytes(photo(i)));
    folder.write("masks/" + std::to_string(i) + ".png", png_bytes(paint(height, width, 1)));
  }
  image_options mask = padded;
  mask.fill = {255, 0, 0};
  const auto joined = open_joined_images(
      {{"image", (folder.path() / "images").string(), make_image_decoder(padded)},
       {"mask", (folder.path() / "masks").string(), make_mask_decoder(mask)}});
  for (const seen_batch& each :
       delivered(joined.dataset, on::scripted, sequential{}, {.batch_size = 3}, 1)) {
    const image_size in = each.size();
    CHECK((each.fields[1].shape == std::vector<std::uint64_t>{3, in.height, in.width}));
    const auto sizes = values_of<std::int32_t>(each.fields[2].bytes);
    for (std::size_t i = 0; i < 3; ++i) {
      const auto mask_at = [&](std::uint32_t y, std::uint32_t x) {
        return each.fields[1].bytes[(i * in.height + y) * in.width + x];
      };
      const auto height = static_cast<std::uint32_t>(sizes[2 * i]);
      const auto width = static_cast<std::uint32_t>(sizes[2 * i + 1]);
      if (height < in.height) CHECK(mask_at(height, 0) == std::byte{255});
      if (width < in.width) CHECK(mask_at(0, width) == std::byte{255});
    }
  }
  mask.size_divisible = 32;
  CHECK(contains(message_of<usage_error>([&] {
                   (void)open_joined_images(
                       {{"image", (folder.path() / "images").string(), make_image_decoder(padded)},
                        {"mask", (folder.path() / "masks").string(), make_mask_decoder(mask)}});
                 }),
                 "size_divisible"));
}

TEST_CASE("letterbox: the image keeps its shape, in the middle, and boxes go with it",
          "[loader][host]") {
  const photo_tree tree{10};
  image_options box = padded;
  box.fit = image_fit::letterbox;
  box.height = 60;
  box.width = 48;
  std::vector<annotated_image> images;
  for (std::uint64_t i = 0; i < tree.count(); ++i) {
    const auto [height, width] = photo_size(i);
    images.push_back({.path = tree.path_of(i),
                      .id = static_cast<std::int64_t>(i),
                      .boxes = {{0, 0, static_cast<float>(width), static_cast<float>(height)}},
                      .labels = {0}});
  }
  const auto found = make_annotated_dataset(images, {.image = box});
  for (std::uint64_t i = 0; i < tree.count(); ++i) {
    const auto [height, width] = photo_size(i);
    const double scale = std::min(60.0 / height, 48.0 / width);
    const image_size size{static_cast<std::uint32_t>(std::lround(height * scale)),
                          static_cast<std::uint32_t>(std::lround(width * scale))};
    const auto told = field_of<std::int32_t>(*found.dataset, i, "image_size");
    CHECK((told == std::vector<std::int32_t>{static_cast<std::int32_t>(size.height),
                                             static_cast<std::int32_t>(size.width)}));
    CHECK(read_sample(*found.dataset, {i})[0] ==
          placed(shown(tree.path_of(i), size), size, {60, 48}, true));
    const auto top = static_cast<float>((60 - size.height) / 2);
    const auto left = static_cast<float>((48 - size.width) / 2);
    CHECK((boxes_of(*found.dataset, i)[0] == test::box{left, top,
                                                       left + static_cast<float>(size.width),
                                                       top + static_cast<float>(size.height)}));
  }
  box.layout = image_layout::chw;
  box.type = element_type::u16;
  box.sizes = {{32, 48}, {64, 48}};
  const auto planes = open_images({tree.root()}, box).dataset;
  for (const seen_batch& each :
       delivered(planes, on::scripted, sequential{}, {.batch_size = 2}, 1)) {
    const auto values = values_of<std::uint16_t>(each.fields[0].bytes);
    const image_size in = each.size(2);
    if (photo_size(each.samples[0]).height * in.width >=
        photo_size(each.samples[0]).width * in.height)
      continue;  // no rows above it
    for (std::size_t channel = 0; channel < 3; ++channel)
      CHECK(values[channel * in.pixels()] == padded.fill[channel] * 257);
  }
}

TEST_CASE("aspect ratios: batches of images of like shape have little padding", "[loader][host]") {
  const photo_tree tree{200};
  const auto photos = open_images({tree.root()}, padded);
  const auto sizes = stored_image_sizes(photos.paths);
  REQUIRE(sizes.size() == 200);
  for (std::uint64_t i = 0; i < 200; ++i)
    if (sizes[i] != photo_size(i))
      FAIL_CHECK(i << ": " << sizes[i].height << " x " << sizes[i].width);
  const auto padding = [&](const sampler& order) {
    loader loading{photos.dataset, order, make_host_device(), {.batch_size = 8}};
    std::vector<std::uint64_t> samples;
    for (const batch& each : loading.epoch(0))
      for (const sample_index sample : each.samples()) samples.push_back(sample.value);
    std::ranges::sort(samples);
    std::vector<std::uint64_t> all(200);
    std::iota(all.begin(), all.end(), std::uint64_t{0});
    CHECK(samples == all);
    const loader_statistics told = loading.statistics();
    return static_cast<double>(told.padded_pixels) / static_cast<double>(told.pixels);
  };
  const double shuffled = padding(shuffle{});
  const double grouped = padding(bucket_by_aspect_ratio(sizes, {.seed = 3}));
  CAPTURE(shuffled);
  CHECK(grouped < 0.9 * shuffled);
  CHECK(padding(bucket_by_aspect_ratio(sizes, {.boundaries = {0.5, 1, 2}})) < 0.95 * shuffled);
  const auto order = bucket_by_aspect_ratio(sizes, {.boundaries = {0.5, 1, 2}});
  CHECK((order.boundaries() == std::vector<std::uint64_t>{32768, 65536, 131072}));
  // An image whose ratio is a boundary is not below it.
  const std::vector<image_size> thirds{{3, 2}, {3, 1}};
  const auto of_thirds = bucket_by_aspect_ratio(thirds, {.boundaries = {2.0 / 3}});
  CHECK(of_thirds.boundaries().front() <= (std::uint64_t{2} << 16U) / 3);
  CHECK(contains(
      message_of<usage_error>([&] { (void)bucket_by_aspect_ratio(sizes, {.boundaries = {-1}}); }),
      "above 0"));
}

TEST_CASE("padded batches: options that contradict each other are refused", "[dataset][host]") {
  const auto refused = [](const image_options& options) {
    return message_of<usage_error>([&] { (void)make_image_decoder(options); });
  };
  using enum image_fit;
  CHECK(contains(refused({.resized_crop = crop_ranges{}, .fit = pad}), "resized_crop"));
  CHECK(contains(refused({.shorter_side = 224, .fit = letterbox}), "shorter_side"));
  CHECK(contains(refused({.fit = pad, .sizes = {{32, 32}}}), "image_options::sizes"));
  CHECK(contains(refused({.fit = pad, .size_divisible = 0}), "size_divisible"));
  CHECK(contains(refused({.fit = pad, .flip = 2}), "image_options::flip is 2"));
  CHECK(contains(refused({.fit = letterbox, .flip = 0.5}), "set field_transform::flip"));
  CHECK(contains(refused({.larger = larger_image::error}), "image_options::larger"));
  CHECK(contains(message_of<usage_error>([] {
                   (void)make_annotated_dataset(
                       {}, {.image = {.fit = pad}, .affine = random_affine{.degrees = {-9, 9}}});
                 }),
                 "would move the padding"));
  CHECK(contains(refused({.fit = image_fit{9}}), "image_options::fit"));
  // Padding needs to know the sizes of all images: files only.
  const auto decoder = make_image_decoder({.fit = pad});
  CHECK(decoder->sizes() == nullptr);
  CHECK(decoder->describe({}).by_batch == size_by_batch{image_layout::hwc, true});
}
