/// Images whose size differs from batch to batch, and padded ones, as a device decodes them: the
/// same batches, errors and statistics as readers give.

#include <feedline/dataset/concatenate.hpp>
#include <feedline/dataset/subset.hpp>
#include <feedline/image/annotations.hpp>
#include <feedline/image/folder.hpp>
#include <feedline/image/joined.hpp>
#include <feedline/image/list.hpp>
#include <feedline/image/sizes.hpp>
#include <feedline/sampler/sequential.hpp>
#include <feedline/sampler/shuffle.hpp>

#include "support/checks/contains.hpp"
#include "support/checks/message_of.hpp"
#include "support/datasets/encoded_check.hpp"
#include "support/images/sized_kinds.hpp"
#include "unit/image/sets/sized_batches.hpp"

#include <memory>

using namespace feedline;
using namespace feedline::test;

namespace {

/// Photographs as JPEGs and PNGs; each seventh is a progressive JPEG, which readers decode.
struct mixed_tree : photo_tree {
  mixed_tree() {
    for (std::uint64_t i = 0; i < count(); ++i)
      if (i % 3 != 0) add_jpeg(i);
  }
  void add_jpeg(std::uint64_t i) const {
    add(i, jpeg_bytes(photo(i), {.is_progressive = i % 7 == 1, .halves_chroma = i % 2 == 0}));
  }
};

loader_options by(decode_on who, loader_options options) {
  options.decode_on = who;
  options.placement = placement::stream;
  return options;
}

std::vector<seen_batch> decoded_by(decode_on who, const dataset_ptr& data, const sampler& order,
                                   const loader_options& options, std::uint64_t epochs = 2) {
  const scripted there;
  const loader planned{data, order, there.device, by(who, options)};
  CAPTURE(planned.plan().decode_note);
  REQUIRE(planned.plan().decode_on == who);
  return delivered(data, on::scripted, order, by(who, options), epochs);
}

void check_same_batches(const dataset_ptr& data, const sampler& order,
                        const loader_options& options) {
  const auto expected = decoded_by(decode_on::cpu, data, order, options);
  CHECK((decoded_by(decode_on::device, data, order, options) == expected));
}

}  // namespace

TEST_CASE("sized blocks: a device decodes what readers decode", "[loader][host]") {
  const mixed_tree tree;
  for (const auto& [name, image] : sized_kinds()) {
    CAPTURE(name);
    const auto data = open_image_folder(tree.root(), {.image = image}).dataset;
    for (const int readers : {0, 3})
      for (const std::uint64_t batches : {std::uint64_t{0}, std::uint64_t{2}}) {
        loader_options options{.batch_size = 3, .readers = readers, .seed = 5};
        options.expert.batches_per_slot = batches;
        if (batches != 0) options.expert.piece_bytes = 20'000;
        check_same_batches(data, shuffle{.seed = 8}, options);
      }
  }
}

TEST_CASE("sized blocks: transforms see images of the batch's size", "[loader][host]") {
  const mixed_tree tree;
  for (const auto& [name, image] : sized_kinds()) {
    CAPTURE(name);
    const auto data = open_image_folder(tree.root(), {.image = image}).dataset;
    loader_options options{.batch_size = 5, .readers = 2, .seed = 5};
    options.transforms = {{.field = "image",
                           .to = element_type::f32,
                           .scale = 1 / 255.0,
                           .mean = {0.4, 0.5, 0.6},
                           .stddev = {0.2, 0.25, 0.3},
                           .layout = image.layout,
                           .flip = image.fit == image_fit::stretch ? 0.5 : 0}};
    check_same_batches(data, shuffle{.seed = 8}, options);
  }
}

TEST_CASE("sized blocks: ranks and resumed runs", "[loader][host]") {
  const mixed_tree tree;
  for (const auto& [name, image] : sized_kinds()) {
    CAPTURE(name);
    const auto data = open_images({tree.root()}, image).dataset;
    for (const int rank : {0, 1})
      check_same_batches(data, shuffle{.seed = 2},
                         {.batch_size = 3, .shard = {rank, 2}, .readers = 2, .seed = 4});
    const loader_options options =
        by(decode_on::device, {.batch_size = 3, .readers = 2, .seed = 4});
    const auto all = delivered(data, on::scripted, shuffle{}, options);
    loader_state middle;
    {
      const scripted there;
      loader first{data, shuffle{}, there.device, options};
      std::uint64_t taken = 0;
      for (const batch& each : first.epoch(0, there.stream)) {
        there.device->drain(there.stream);
        if (each.index() == 4) break;
        ++taken;
      }
      REQUIRE(taken == 4);
      middle = first.state();
    }
    const auto rest = delivered(data, on::scripted, shuffle{}, options, 2, &middle);
    REQUIRE(rest.size() < all.size());
    CHECK((std::vector(all.end() - static_cast<std::ptrdiff_t>(rest.size()), all.end()) == rest));
  }
}

TEST_CASE("sized blocks: similar shapes, parts, and datasets in line", "[loader][host]") {
  const mixed_tree tree;
  const image_options image = sized_kinds()[1].second;
  const auto opened = open_images({tree.root()}, image);
  const dataset_ptr& data = opened.dataset;
  const auto order = bucket_by_aspect_ratio(stored_image_sizes(opened.paths), {.seed = 3});
  check_same_batches(data, order, {.batch_size = 4, .readers = 2});
  check_same_batches(subset(data, {{30}, {2}, {3}, {2}, {11}, {39}, {0}}), shuffle{.seed = 4},
                     {.batch_size = 2, .readers = 2});
  check_same_batches(concatenate({data, data}), shuffle{.seed = 4},
                     {.batch_size = 5, .readers = 2});
}

TEST_CASE("sized blocks: masks and boxes go with images that a device decodes", "[loader][host]") {
  const temporary_directory folder;
  for (const char* const name : {"images", "masks"})
    std::filesystem::create_directory(folder.path() / name);
  std::vector<annotated_image> annotated;
  for (std::uint64_t i = 0; i < 20; ++i) {
    const auto [height, width] = photo_size(i);
    const std::string name = std::to_string(100 + i);
    folder.write("images/" + name + ".jpg", jpeg_bytes(photo(i)));
    folder.write("masks/" + name + ".png",
                 png_bytes(paint(height, width, 1, static_cast<std::uint32_t>(i))));
    annotated.push_back({.path = (folder.path() / "images" / (name + ".jpg")).string(),
                         .id = static_cast<std::int64_t>(i),
                         .boxes = {{1, 2, 9, 12}},
                         .labels = {static_cast<std::int32_t>(i)}});
  }
  image_options image = sized_kinds()[1].second;
  image_options mask = image;
  mask.layout = image_layout::hwc;
  mask.fill = {255, 255, 255};
  image.layout = image_layout::hwc;
  const std::string root = folder.path().string();
  const auto joined = open_joined_images({{"image", root + "/images", make_image_decoder(image)},
                                          {"mask", root + "/masks", make_mask_decoder(mask)}})
                          .dataset;
  for (const int readers : {0, 3})
    check_same_batches(joined, shuffle{.seed = 1}, {.batch_size = 3, .readers = readers});
  image.flip = 0;
  const auto boxes = make_annotated_dataset(annotated, {.image = image, .flip = 0.5});
  check_same_batches(boxes.dataset, shuffle{.seed = 1}, {.batch_size = 3, .readers = 2});
  const auto letters = make_annotated_dataset(annotated, {.image = sized_kinds()[3].second});
  check_same_batches(letters.dataset, shuffle{.seed = 1}, {.batch_size = 3, .readers = 2});
}

TEST_CASE("sized blocks: statistics are the same for readers and devices", "[loader][host]") {
  const mixed_tree tree;
  const auto data = open_images({tree.root()}, sized_kinds()[0].second).dataset;
  const auto counted = [&](decode_on who) {
    const scripted there;
    loader loading{data, shuffle{.seed = 8}, there.device,
                   by(who, {.batch_size = 3, .epochs = 2, .readers = 2})};
    for (std::uint64_t epoch = 0; epoch < 2; ++epoch)
      for (const batch& each : loading.epoch(epoch, there.stream)) {
        static_cast<void>(each);
        there.device->drain(there.stream);
      }
    return loading.statistics();
  };
  const loader_statistics readers = counted(decode_on::cpu);
  const loader_statistics device = counted(decode_on::device);
  CHECK(device.padded_pixels > 0);
  CHECK(device.pixels == readers.pixels);
  CHECK(device.padded_pixels == readers.padded_pixels);
  CHECK(device.reader.bytes == readers.reader.bytes);
  CHECK(device.consumer.bytes == readers.consumer.bytes);
  CHECK(readers.decoded == 80);
  CHECK(device.decoded == 2 * 4);  // the progressive JPEGs
}

TEST_CASE("sized blocks: a damaged file ends the epoch as it does where readers decode",
          "[loader][host]") {
  const mixed_tree tree;
  auto damaged = jpeg_bytes(photo(10));
  damaged.resize(damaged.size() * 2 / 3);
  tree.add(10, damaged);
  const auto data = open_images({tree.root()}, sized_kinds()[0].second).dataset;
  const auto error_of = [&](decode_on who) {
    return message_of<stage_error>([&] {
      (void)delivered(data, on::scripted, shuffle{.seed = 8},
                      by(who, {.batch_size = 3, .readers = 2}));
    });
  };
  const std::string expected = error_of(decode_on::cpu);
  CHECK(contains(expected, "1010.png"));
  CHECK(error_of(decode_on::device) == expected);
}

TEST_CASE("sized blocks: rows and windows as blocks describe them", "[dataset][host]") {
  const image_options image{.height = 40, .width = 56, .fit = image_fit::letterbox};
  const auto decoder = make_image_decoder(image);
  const auto file = jpeg_bytes(paint(20, 20));
  CHECK(decoder->for_device(file, {})->in_row ==
        image_in_row{.left = 8, .height = 40, .width = 40});
  const auto padding =
      make_image_decoder({.height = 50, .width = 60, .fit = image_fit::pad, .size_divisible = 16});
  CHECK(padding->steps().front().image == image_row{.height = 64, .width = 64});
  CHECK(padding->for_device(file, {.size = image_size{32, 48}})->in_row ==
        image_in_row{.row_height = 32, .row_width = 48, .height = 20, .width = 20});
  const auto drawn = make_image_decoder({.sizes = {{8, 9}, {7, 12}}});
  CHECK(drawn->for_device(file, {.size = image_size{7, 12}})->in_row ==
        image_in_row{.row_height = 7, .row_width = 12});
  const auto grey = make_image_decoder({.channels = 1, .fit = image_fit::pad});
  CHECK(grey->steps().front().image.channels == 1);
  byte_vector out(std::size_t{3} * 64 * 64);
  const auto decode_to = [&](const image_in_row& in_row) {
    padding->decode_described(file, {.bytes = file.size(), .in_row = in_row},
                              padding->describe(file), out);
  };
  decode_to({.row_height = 32, .row_width = 32, .height = 32, .width = 32});
  for (const image_in_row& bad :
       {image_in_row{.row_height = 65, .row_width = 64, .height = 2, .width = 2},
        image_in_row{.row_height = 32, .row_width = 32, .top = 1, .height = 32, .width = 32},
        image_in_row{.row_height = 32, .row_width = 32, .left = 31, .height = 2, .width = 2}})
    CHECK(contains(message_of<dataset_error>([&] { decode_to(bad); }), "not within its row"));
}

TEST_CASE("sized blocks: a folder's blocks are the dataset's rows", "[dataset][host]") {
  const mixed_tree tree;
  for (const auto& [name, image] : sized_kinds()) {
    CAPTURE(name);
    if (image.resized_crop)
      continue;  // windows differ from sample to sample, even without a loader
    check_encoded(*open_image_folder(tree.root(), {.image = image}).dataset);
  }
}
