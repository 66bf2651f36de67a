// The code that docs/guide/datasets.md shows.

// [includes]
#include <feedline/feedline.hpp>
#include <feedline/formats/array_files.hpp>
#include <feedline/formats/file_list.hpp>
#include <feedline/formats/json_lines.hpp>
#include <feedline/formats/open.hpp>
#include <feedline/formats/parquet.hpp>
#include <feedline/hdf5/dataset.hpp>
#include <feedline/image/folder.hpp>
// [/includes]

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iostream>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

feedline::dataset_ptr in_memory(std::vector<float> images, std::vector<std::uint8_t> labels) {
  // [in_memory]
  auto digits = feedline::make_memory_dataset({feedline::own("image", std::move(images), {28, 28}),
                                               feedline::own("label", std::move(labels))});
  // [/in_memory]
  return digits;
}

void formats(const std::vector<std::string>& shards) {
  // [formats]
  // The content tells the format.
  auto anything = feedline::open("train.h5");

  // A folder of JPEGs and PNGs for each class, as torchvision's Resize(256) and CenterCrop(224):
  auto [images, classes, skipped_files, examples] =
      feedline::open_image_folder("imagenet/train", {.image = {.shorter_side = 256}});

  // A random window of each image as it is stored, as torchvision's RandomResizedCrop(224):
  auto cut = feedline::open_image_folder(
      "imagenet/train",
      {.image = {.height = 224, .width = 224, .resized_crop = feedline::crop_ranges{}}});

  // Tar shards in the WebDataset manner, and an order that reads them nearly from front to back:
  auto samples =
      feedline::open_tar(shards, {{"image", {"jpg", "png"}, feedline::make_image_decoder()},
                                  {"label", {"cls"}, feedline::decode_decimal()}});
  feedline::loader loader{samples,
                          feedline::shuffle{.seed = 42, .within = feedline::chunks(64)},
                          feedline::make_host_device(),
                          {.batch_size = 256}};
  // [/formats]
  std::cout << anything->size() + images->size() + cut.dataset->size() << classes.size()
            << skipped_files << examples.size();
}

feedline::dataset_ptr masks(const std::vector<std::string>& shards) {
  // [masks]
  feedline::image_options cut{.height = 512, .width = 512, .resized_crop = feedline::crop_ranges{}};
  auto pairs = feedline::open_tar(shards, {{"image", {"jpg"}, feedline::make_image_decoder(cut)},
                                           {"mask", {"png"}, feedline::make_mask_decoder(cut)}});
  // [/masks]
  return pairs;
}

void list() {
  // [list]
  for (const auto& found : feedline::list_fields("train.h5"))
    if (found.left_out.empty())
      std::cout << found.name << ": " << found.samples << " of " << to_string(found.spec) << '\n';
    else
      std::cout << found.name << " is left out: " << found.left_out << '\n';
  // [/list]
}

void roots() {
  // [roots]
  const auto both =
      feedline::open_image_folder(std::vector<std::string>{"photos/train", "scans/train"});
  for (const std::string& name : both.classes) std::cout << name << '\n';  // label 0, label 1, …
  // [/roots]
}

// [record_decoder]
// A record of this example: a class in one byte, then tokens of two bytes.
class text_decoder : public feedline::record_decoder {
 public:
  std::vector<feedline::described_field> describe(std::span<const std::byte>) const override {
    return {{{"class", feedline::element_type::u8}},
            {{"tokens", feedline::element_type::u16}, true}};  // ragged
  }

  void decode(std::span<const std::byte> stored, feedline::record_output& out,
              const feedline::sample_context&) const override {
    if (stored.empty()) throw feedline::dataset_error{{}, "the record is empty"};
    out.put(0, stored.first(1));
    out.put(1, stored.subspan(1));
  }
};
// [/record_decoder]

void records(const feedline::ragged_dataset_ptr& stored, const std::vector<std::string>& shards) {
  // [records]
  const auto decoder = std::make_shared<text_decoder>();
  // Fields "class", "tokens" [512] and "tokens_length":
  auto texts = feedline::decode(stored, decoder, {.pad = {{"tokens", {.length = 512}}}});

  // One ragged field, to be packed:
  auto rows =
      feedline::pack(feedline::decode_ragged(stored, decoder, "tokens"), {.capacity = 4096});

  // The same decoder for members of tar shards, beside images:
  auto pictures =
      feedline::open_tar(shards, {{"image", {"jpg"}, feedline::make_image_decoder()},
                                  {.name = "text", .extensions = {"bin"}, .record = decoder}});
  // [/records]
  std::cout << texts->size() + rows->size() + pictures->size();
}

feedline::dataset_ptr composed(const feedline::dataset_ptr& digits) {
  // [compose]
  auto some = feedline::subset(digits, feedline::sample_index{0}, 5000);
  auto twice = feedline::concatenate({some, some});
  auto labels = feedline::select(digits, {"label"});  // no image is read or decoded
  auto parts = feedline::random_split(digits, {0.9, 0.1}, 42);
  // [/compose]
  return twice;
}

feedline::dataset_ptr held() {
  // [held]
  // All cores decode it once, into at most 16 GiB. Then it is as fast as arrays, in any order.
  auto train = feedline::load_into_memory(feedline::open_hdf5("train.h5", {{"image"}, {"label"}}),
                                          {.max_bytes = std::size_t{16} << 30});
  // [/held]
  return train;
}

feedline::dataset_ptr held_in_part(const feedline::dataset_ptr& damaged) {
  // [patient]
  auto readable = feedline::load_into_memory(
      damaged, {.errors = {.action = feedline::error_action::skip},
                .failures = [](const feedline::failure_report& report) {
                  for (const feedline::sample_failure& each : report.first)
                    std::cerr << "left out: " << each.message << '\n';
                }});
  // [/patient]
  return readable;
}

void tfrecord() {
  // [tfrecord]
  // Two features of ImageNet's files. The images are decoded by readers, or by a GPU that can.
  auto images = feedline::open(
      "imagenet/train-*-of-01024",
      {.fields = {"image/encoded", "image/class/label"}, .image = {.shorter_side = 256}});

  // Features that not all records show, and an index that the next run finds again:
  auto texts =
      feedline::open_tfrecord({"texts-*.tfrecord"}, {.features = {{"tokens", {.is_ragged = true}}},
                                                     .pad = {{"tokens", {.length = 512}}},
                                                     .index_folder = "indexes"});

  // One ragged field, to be packed:
  auto rows = feedline::pack(feedline::open_tfrecord_ragged({"texts-*.tfrecord"}, "tokens"),
                             {.capacity = 4096});
  // [/tfrecord]
}

void array_record() {
  // [array_record]
  // A data set of TensorFlow Datasets, whose records are messages tf.train.Example:
  auto images = feedline::open("food101/3.0.0/food101-train.array_record-*",
                               {.fields = {"image", "label"}, .image = {.shorter_side = 256}});

  // Records that are tokens, 4 bytes each, 64 records a chunk, in an order that decodes each once:
  auto texts = feedline::open_array_record(
      {"texts-*.array_record"},
      {.examples = {.pad = {{"value", {.length = 2048}}}},
       .value = feedline::column_options{.type = feedline::element_type::i32, .is_ragged = true}});
  feedline::loader loader{texts,
                          feedline::shuffle{.seed = 42, .within = feedline::chunks()},
                          feedline::make_host_device(),
                          {.batch_size = 256}};
  // [/array_record]
}

void record_sets() {
  // [record_sets]
  // A folder with an index.json and shards: MosaicML's streaming (MDS), or LitData.
  auto train = feedline::open("imagenet-mds/train", {.fields = {"image", "label"}});

  // Bytes that are tokens, which the writer stored with tobytes():
  auto texts = feedline::open_mds(
      {"c4/train"},
      {.columns = {{"tokens", {.type = feedline::element_type::u16, .is_ragged = true}}},
       .pad = {{"tokens", {.length = 2048}}}});

  // Documents of LitData's TokensLoader, packed:
  auto rows =
      feedline::pack(feedline::open_litdata_ragged({"starcoder/train"}), {.capacity = 4096});

  // An LMDB environment of images, such as LSUN's:
  auto scenes = feedline::open_lmdb(
      {"bedroom_train_lmdb"},
      {.values = {.image = feedline::make_image_decoder({.shorter_side = 256})}});
  // [/record_sets]
}

void tables() {
  // [tables]
  // JSON lines. Labels are texts, whose numbers are their index here.
  const std::vector<std::string> kinds{"cat", "dog"};
  auto reviews = feedline::open("reviews-*.jsonl",
                                {.fields = {"text", "kind"},
                                 .pad = {{"text", {.length = 512}}},
                                 .columns = {{"kind", {.labels = feedline::text_labels{kinds}}}}});

  // CSV whose columns pixel0, pixel1, … are one field; cells without a number are -1.
  auto digits = feedline::open_csv(
      {"mnist.csv"},
      {.table = {.columns = {{"pixels", {.fill = -1.0}}}}, .merge = {{"pixels", {"pixel*"}}}});

  // A .npz file a sample, with arrays of any size:
  auto scans = feedline::open_array_files({"kits19/case_*.npz"});

  // Lines "path label":
  auto listed = feedline::open_file_list({"train.txt"}, {.classes = kinds});

  // One ragged field, to be packed:
  auto packed = feedline::pack(feedline::open_json_lines_ragged({"reviews-*.jsonl"}, "text"),
                               {.capacity = 4096});
  // [/tables]
}

void parquet() {
  // [parquet]
  // A data set of the Hub, of which one split is opened; images as it stores them.
  auto images = feedline::open("food101/data/train-*.parquet",
                               {.fields = {"image", "label"}, .image = {.shorter_side = 256}});

  // Text, padded and cut; 0 for what is missing; and an order that decodes row groups once:
  auto reviews = feedline::open_parquet(
      {"reviews/"}, {.fields = {"text", "stars"},
                     .pad = {{"text", {.length = 2048, .longer = feedline::pad_longer::truncate}}},
                     .fill_nulls = {{"stars", std::int64_t{0}}}});
  feedline::loader loader{reviews,
                          feedline::shuffle{.seed = 42, .within = feedline::chunks()},
                          feedline::make_host_device(),
                          {.batch_size = 256}};

  // One ragged column, to be packed:
  auto rows = feedline::pack(feedline::open_parquet_ragged({"tokens-*.parquet"}, "input_ids"),
                             {.capacity = 4096});
  // [/parquet]
}

using answer = std::function<void(const feedline::batch&)>;

void queue(const answer& answer_all, const std::atomic<bool>& is_open) {
  // [queue]
  const auto queue = feedline::make_queue_dataset(
      {{"image", feedline::element_type::u8, {224, 224, 3}}, {"id", feedline::element_type::u64}},
      {.capacity = 1024, .max_delay = std::chrono::microseconds{500}});

  // A thread for each connection. When the last producer ends, the queue is closed.
  std::thread connection{[&is_open, requests = feedline::queue_producer{queue}] {
    std::vector<std::byte> image(224 * 224 * 3);
    for (std::uint64_t id = 0; is_open; ++id) {
      const std::array<std::span<const std::byte>, 2> sample{image,
                                                             std::as_bytes(std::span{&id, 1})};
      if (requests.put(sample) != feedline::put_result::accepted) return;
    }
  }};

  feedline::loader loader{queue,
                          feedline::sequential{},
                          feedline::make_host_device(),
                          {.batch_size = 64, .transforms = {{.field = "image", .mean = {128}}}}};
  for (const auto& batch : loader.epoch(0)) answer_all(batch);  // 1 to 64 samples each
  connection.join();
  // [/queue]
}
