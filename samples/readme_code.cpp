// The code that README.md shows, compiled and not run. Between `// [name]` and `// [/name]` lies
// what is copied there; a test compares, and this writes it anew:
//
//     cmake -D SOURCE=. -D UPDATE=ON -P tests/conventions/readme.cmake

#include <feedline/cuda/device.hpp>
#include <feedline/feedline.hpp>
#include <feedline/formats/open.hpp>
#include <feedline/hdf5/dataset.hpp>
#include <feedline/image/folder.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <iostream>
#include <vector>

struct CUstream_st;
using cudaStream_t = CUstream_st*;  // as the CUDA runtime has it, for machines that have none

void train_step(const std::uint8_t* images, const std::uint8_t* labels, std::uint64_t samples,
                cudaStream_t stream);

void ten_lines(cudaStream_t compute_stream) {
  // [ten_lines]
  auto train = feedline::open_idx("train-images-idx3-ubyte", "train-labels-idx1-ubyte");
  auto gpu = feedline::make_cuda_device(0);

  feedline::loader loader{
      train, feedline::shuffle{.seed = 42}, gpu, {.batch_size = 256, .epochs = 10}};

  for (std::uint64_t epoch = 0; epoch < 10; ++epoch)
    for (feedline::batch& batch : loader.epoch(epoch, feedline::stream_ref{compute_stream}))
      train_step(batch["image"].data<std::uint8_t>(), batch["label"].data<std::uint8_t>(),
                 batch.size(), compute_stream);
  // [/ten_lines]
}

feedline::dataset_ptr augmented(const feedline::dataset_ptr& train) {
  // [augmentation]
  // Noise and mirrored columns, drawn for (seed, epoch, sample): another in each epoch, and the same
  // again for any number of readers, on any machine. Three bytes a pixel, 32 × 32 of them.
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

feedline::loader on_the_device(const feedline::dataset_ptr& train,
                               const feedline::device_ptr& gpu) {
  // [on_the_device]
  feedline::loader_options options{.batch_size = 256, .epochs = 90};
  // Rows stay in up to 8 GiB of the GPU's memory once they have passed; what does not fit is streamed.
  options.max_cache_bytes = std::size_t{8} << 30;
  // Bytes cross the bus; the GPU makes normalized floats of them, cropped and flipped, channels first.
  options.transforms = {
      {.field = "image",
       .scale = 1 / 255.0,
       .mean = {0.485, 0.456, 0.406},
       .deviation = {0.229, 0.224, 0.225},
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

feedline::dataset_ptr datasets() {
  // [datasets]
  // What is in an HDF5 file, and two of its datasets as the fields "image" and "label":
  for (const auto& found : feedline::list_fields("digits.h5"))
    std::cout << found.dataset << ": " << found.samples << " of " << to_string(found.spec) << '\n';
  auto digits =
      feedline::open_hdf5("digits.h5", {{"train/images", "image"}, {"train/labels", "label"}});

  // Datasets compose; nothing is copied until a reader fills a batch:
  auto some = feedline::subset(digits, feedline::sample_index{0}, 5000);
  auto twice = feedline::concatenate({some, some});
  auto labels = feedline::select(digits, {"label"});  // no image is read, or decoded
  auto parts = feedline::random_split(digits, {0.9, 0.1}, 42);
  // [/datasets]
  return twice;
}

feedline::loader windows_of_chunks(const feedline::device_ptr& gpu) {
  // [windows_of_chunks]
  auto train = feedline::open_hdf5("train.h5", {{"image"}, {"label"}});
  // Chunks in random order, 1024 at a time, their samples mixed: each chunk is decoded once an epoch.
  feedline::loader loader{train,
                          feedline::shuffle{.seed = 42, .within = feedline::chunks(1024)},
                          gpu,
                          {.batch_size = 256}};
  // [/windows_of_chunks]
  return loader;
}

feedline::dataset_ptr held() {
  // [held]
  // Decoded once, by all cores, into at most 16 GiB; then as fast as arrays, in any order.
  auto train = feedline::hold_in_memory(feedline::open_hdf5("train.h5", {{"image"}, {"label"}}),
                                        {.max_bytes = std::size_t{16} << 30});
  // [/held]
  return train;
}

void formats(const std::vector<std::filesystem::path>& shards) {
  // [formats]
  // Whatever a path holds, told by its content: HDF5, NumPy, IDX, tar shards, tokens, CIFAR, image folders.
  auto anything = feedline::open("train.h5");

  // A folder of JPEGs and PNGs for each class, as torchvision's Resize(256) and CenterCrop(224):
  auto [images, classes, left_out, examples] =
      feedline::open_image_folder("imagenet/train", {.image = {.shorter_side = 256}});

  // Tar shards in the WebDataset manner, and an order that reads them nearly from front to back:
  auto samples = feedline::open_tar(shards, {{"image", {"jpg", "png"}, feedline::decode_image()},
                                             {"label", {"cls"}, feedline::decode_decimal()}});
  feedline::loader loader{samples,
                          feedline::shuffle{.seed = 42, .within = feedline::chunks(64)},
                          feedline::make_host_device(),
                          {.batch_size = 256}};
  // [/formats]
  std::cout << anything->size() + images->size() << classes.size() << left_out << examples.size();
}
