// The code that docs/guide/transforms.md shows.

#include "training.hpp"

// [includes]
#include <feedline/feedline.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
// [/includes]

feedline::loader on_the_device(const feedline::dataset_ptr& train,
                               const feedline::device_ptr& gpu) {
  // [on_the_device]
  feedline::loader_options options{.batch_size = 256, .epochs = 90};
  // Bytes cross the bus. The GPU makes normalized floats of them, cropped and flipped, channels
  // first.
  options.transforms = {
      {.field = "image",
       .scale = 1 / 255.0,
       .mean = {0.485, 0.456, 0.406},
       .stddev = {0.229, 0.224, 0.225},
       .layout = feedline::image_layout::hwc,
       .to_layout = feedline::image_layout::chw,
       .flip = 0.5,
       .crop = feedline::image_crop{.height = 32, .width = 32, .padding = 4}},
      {.field = "label", .one_hot = 10},
  };
  feedline::loader loader{train, feedline::shuffle{.seed = 42}, gpu, options};
  // [/on_the_device]
  return loader;
}

feedline::loader_options augmentation() {
  // [augmentation_on_the_device]
  feedline::loader_options options{.batch_size = 256, .epochs = 90};
  // Images of one size, stored as bytes: a window of each becomes 224 × 224 pixels.
  options.transforms = {
      {.field = "image",
       .to = feedline::element_type::f16,
       .scale = 1 / 255.0,
       .mean = {0.485, 0.456, 0.406},
       .stddev = {0.229, 0.224, 0.225},
       .layout = feedline::image_layout::hwc,
       .to_layout = feedline::image_layout::chw,
       .flip = 0.5,
       .resized_crop = feedline::random_resized_crop{.height = 224, .width = 224},
       .jitter = feedline::color_jitter{.brightness = 0.4, .contrast = 0.4, .saturation = 0.4},
       .erasing = feedline::random_erasing{.probability = 0.25}},
  };
  // [/augmentation_on_the_device]
  return options;
}

feedline::loader_options mixing() {
  // [mixing]
  feedline::loader_options options{.batch_size = 256, .epochs = 90};
  options.transforms = {
      {.field = "image",
       .to = feedline::element_type::f16,
       .scale = 1 / 255.0,
       .layout = feedline::image_layout::hwc,
       .to_layout = feedline::image_layout::chw},
      {.field = "label", .one_hot = 1000},
  };
  // Half of the samples by mixup, half by cutmix. The loss takes `label` as it comes: a cross
  // entropy with shares of classes.
  options.mixing =
      feedline::mixing{.image = "image", .label = "label", .mixup_alpha = 0.2, .cutmix_alpha = 1.0};
  // [/mixing]
  return options;
}

feedline::loader_options batch_transform() {
  // [batch_transform]
  feedline::loader_options options{.batch_size = 256};
  options.expert.batch_transform = feedline::batch_transform{
      .fields = {{"image", feedline::element_type::f32, {28, 28}}},
      .run = [](const feedline::batch_function_call& call) {
        brighten(call.in[0].data<std::uint8_t>(), reinterpret_cast<float*>(call.out[0].data()),
                 call.samples, static_cast<cudaStream_t>(call.stream.get()));
      }};
  // [/batch_transform]
  return options;
}

feedline::dataset_ptr augmented(const feedline::dataset_ptr& train) {
  // [augmentation]
  // Noise and mirrored columns: they differ in each epoch, and are the same for any number of
  // readers, on any machine. Images are 32 × 32 pixels of three bytes.
  auto augmented = feedline::map(
      train, train->fields(),
      [](feedline::sample_index, auto in, auto out, const feedline::sample_context& context) {
        feedline::sample_random random = context.random();
        const bool mirrored = random.chance(0.5);
        for (std::size_t at = 0; at < in[0].size(); ++at) {
          const std::size_t row = at / 96, column = at % 96 / 3, colour = at % 3;
          const std::size_t from = mirrored ? (row * 32 + 31 - column) * 3 + colour : at;
          const auto pixel = std::to_integer<unsigned>(in[0][from]) + random.below(8);
          out[0][at] = static_cast<std::byte>(pixel < 255 ? pixel : 255);
        }
        std::copy(in[1].begin(), in[1].end(), out[1].begin());  // the label
      });
  // [/augmentation]
  return augmented;
}
