// The code that docs/guide/images.md shows.

// [includes]
#include <feedline/feedline.hpp>
#include <feedline/image/coco.hpp>
#include <feedline/image/folder.hpp>
#include <feedline/image/joined.hpp>
#include <feedline/image/list.hpp>
#include <feedline/image/sizes.hpp>
#include <feedline/image/voc.hpp>
// [/includes]

#include <iostream>
#include <string>
#include <utility>
#include <vector>

feedline::dataset_ptr lists() {
  // [lists]
  // Lines such as "n01440764/a.jpg tench"; paths begin at the list's folder.
  auto train = feedline::open_image_list({"train.txt"}, {.image = {.shorter_side = 256}});
  for (const std::string& name : train.classes) std::cout << name << '\n';  // label 0, label 1, …

  // All images below a folder, without labels.
  auto photos = feedline::open_images({"holiday"}, {.height = 224, .width = 224});
  std::cout << "sample 17 is " << photos.paths[17] << '\n';
  // [/lists]
  return train.dataset;
}

feedline::loader masks(const feedline::device_ptr& gpu) {
  // [masks]
  feedline::image_options cut{.height = 512, .width = 512, .resized_crop = feedline::crop_ranges{}};
  auto [train, paths, skipped_files, examples] = feedline::open_joined_images(
      {{"image", "train/images", feedline::make_image_decoder(cut)},
       {"mask", "train/masks", feedline::make_mask_decoder(cut), "_mask"}});  // 1.jpg, 1_mask.png

  using enum feedline::image_layout;
  feedline::loader_options options{.batch_size = 32};
  options.transforms = {
      {.field = "image", .scale = 1 / 255.0, .layout = hwc, .to_layout = chw, .flip = 0.5},
      {.field = "mask", .to = feedline::element_type::i64, .layout = hwc, .flip = 0.5}};
  feedline::loader loader{train, feedline::shuffle{.seed = 42}, gpu, options};
  // [/masks]
  std::cout << paths.size() + skipped_files + examples.size();
  return loader;
}

feedline::loader boxes(const feedline::device_ptr& gpu) {
  // [boxes]
  auto found = feedline::open_coco("train2017", "annotations/instances_train2017.json",
                                   {.image = {.height = 640, .width = 640},
                                    .flip = 0.5,
                                    .min_visible = 0.1,
                                    .skip_flagged = true});
  feedline::loader_options options{.batch_size = 64};
  options.transforms = {
      {.field = "image", .scale = 1 / 255.0, .layout = feedline::image_layout::hwc, .flip = 0.5}};
  feedline::loader loader{found.dataset, feedline::shuffle{.seed = 42}, gpu, options};
  // [/boxes]
  return loader;
}

feedline::loader multi_scale(const feedline::device_ptr& gpu, feedline::stream_ref stream) {
  // [multi_scale]
  // Squares of 320 to 640 pixels, one of which is drawn for each batch.
  auto [train, classes, skipped_files, examples] = feedline::open_image_folder(
      "train", {.image = {.resized_crop = feedline::crop_ranges{},
                          .sizes = feedline::square_sizes(320, 640, 32)}});
  using enum feedline::image_layout;
  feedline::loader_options options{.batch_size = 64};
  options.transforms = {
      {.field = "image", .scale = 1 / 255.0, .layout = hwc, .to_layout = chw, .flip = 0.5}};
  feedline::loader loader{train, feedline::shuffle{.seed = 42}, gpu, options};
  for (const feedline::batch& batch : loader.epoch(0, stream))
    std::cout << batch["image"].shape()[2] << '\n';  // 448, 320, 608, …
  // [/multi_scale]
  return loader;
}

feedline::loader padded_images(const feedline::device_ptr& gpu) {
  // [padded]
  // Shorter sides of 800 pixels, longer ones of at most 1333; batches in multiples of 32.
  feedline::image_options image{.height = 1333,
                                .width = 1333,
                                .shorter_side = 800,
                                .fit = feedline::image_fit::pad,
                                .fill = {124, 116, 104}};
  auto found = feedline::open_coco("train2017", "annotations/instances_train2017.json",
                                   {.image = image, .flip = 0.5});
  auto order =
      feedline::bucket_by_aspect_ratio(feedline::stored_image_sizes(found.paths), {.seed = 42});
  feedline::loader loader{found.dataset, order, gpu, {.batch_size = 16}};
  // [/padded]
  return loader;
}

feedline::dataset_ptr own_boxes() {
  // [own_boxes]
  std::vector<feedline::annotated_image> images;
  images.push_back({.path = "1.jpg", .id = 1, .boxes = {{10, 20, 110, 220}}, .labels = {3}});
  auto own = feedline::make_annotated_dataset(images, {.normalized = true});
  auto voc = feedline::open_voc("VOCdevkit/VOC2012", "train");
  // [/own_boxes]
  std::cout << voc.dataset->size();
  return own.dataset;
}
