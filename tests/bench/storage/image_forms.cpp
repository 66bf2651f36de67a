#include "bench/storage/image_forms.hpp"

#include <feedline/formats/mds.hpp>
#include <feedline/formats/parquet.hpp>
#include <feedline/formats/tfrecord.hpp>
#include <feedline/image/annotations.hpp>
#include <feedline/image/folder.hpp>
#include <feedline/image/joined.hpp>
#include <feedline/image/sizes.hpp>

#include "formats/crc32c.hpp"
#include "support/files/file_bytes.hpp"
#include "support/files/mds_bytes.hpp"
#include "support/files/tfrecord_bytes.hpp"
#include "support/images/image_bytes.hpp"

#ifdef FEEDLINE_HAS_PARQUET
#include "support/files/parquet_bytes.hpp"
#endif

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <span>
#include <stdexcept>
#include <tuple>
#include <utility>

namespace feedline::bench {
namespace {

using test::byte_vector;

constexpr std::size_t images_in_file = 1024;

struct labelled {
  std::filesystem::path path;
  std::int64_t label;
};

std::vector<std::filesystem::path> sorted(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> paths;
  for (const auto& each : std::filesystem::directory_iterator{folder}) paths.push_back(each.path());
  std::ranges::sort(paths);
  return paths;
}

/// Images of all classes in turn, as writers of shards shuffle them.
std::vector<labelled> images_of(const std::string& folder) {
  std::vector<labelled> images;
  std::int64_t label = 0;
  for (const auto& of_class : sorted(folder)) {
    for (const auto& image : sorted(of_class)) images.push_back({image, label});
    ++label;
  }
  std::ranges::stable_sort(images, {}, [](const labelled& each) { return each.path.filename(); });
  return images;
}

void append(byte_vector& file, std::span<const std::byte> bytes) {
  file.insert(file.end(), bytes.begin(), bytes.end());
}

/// Records tf.train.Example, with checksums that do not take long.
byte_vector tfrecord_file(std::span<const labelled> images) {
  const auto checksum = [](const byte_vector& of) {
    return test::memory_of<std::uint32_t>({detail::masked_crc32c(of)});
  };
  byte_vector file;
  for (const labelled& each : images) {
    const byte_vector record = test::tfrecord::example(
        {{"image", test::tfrecord::bytes_feature({test::bytes_of_file(each.path.string())})},
         {"label", test::tfrecord::int64_feature({each.label})}});
    const byte_vector length = test::memory_of<std::uint64_t>({record.size()});
    for (const byte_vector& part : {length, checksum(length), record, checksum(record)})
      append(file, part);
  }
  return file;
}

#ifdef FEEDLINE_HAS_JSON
byte_vector mds_shard(std::span<const labelled> images) {
  std::vector<byte_vector> records;
  for (const labelled& each : images)
    records.push_back(test::sized_record(
        {test::bytes_of_file(each.path.string()), test::memory_of<std::int64_t>({each.label})},
        {true, false}));
  return test::offset_shard(records);
}
#endif

#ifdef FEEDLINE_HAS_PARQUET
/// Images as the Hub stores them, in row groups of a hundred.
byte_vector parquet_file(std::span<const labelled> images) {
  std::vector<byte_vector> files;
  std::vector<std::optional<std::int64_t>> labels;
  for (const labelled& each : images) {
    files.push_back(test::bytes_of_file(each.path.string()));
    labels.emplace_back(each.label);
  }
  return test::parquet_files::file_of(
      {{"image", test::parquet_files::hub_images(files)},
       {"label", test::parquet_files::array_of<arrow::Int64Builder>(labels)}},
      100);
}
#endif

byte_vector file_of(const std::string& form, std::span<const labelled> images) {
  if (form == "tfrecord") return tfrecord_file(images);
#ifdef FEEDLINE_HAS_JSON
  if (form == "mds") return mds_shard(images);
#endif
#ifdef FEEDLINE_HAS_PARQUET
  if (form == "parquet") return parquet_file(images);
#endif
  throw std::runtime_error{"this build cannot store images as " + form};
}

/// Ellipses of 20 classes.
test::pixels mask_of(image_size size, std::uint32_t seed) {
  test::pixels mask{size.height, size.width, 1, {}};
  mask.values.resize(std::size_t{size.height} * size.width);
  for (std::uint32_t i = 0; i < 6; ++i) {
    const std::uint32_t random = (seed * 6 + i + 1) * 2654435761U;
    const std::int64_t top = random % size.height;
    const std::int64_t left = random / 7 % size.width;
    const std::int64_t down = size.height / 12 + random / 11 % (size.height / 5);
    const std::int64_t across = size.width / 12 + random / 13 % (size.width / 5);
    std::size_t at = 0;
    for (std::int64_t y = 0; y < size.height; ++y)
      for (std::int64_t x = 0; x < size.width; ++x, ++at)
        if ((y - top) * (y - top) * across * across + (x - left) * (x - left) * down * down <=
            across * across * down * down)
          mask.values[at] = static_cast<std::uint8_t>(1 + random / 17 % 20);
  }
  return mask;
}

/// Writes a mask for each image, under its name; 128 different ones.
void write_masks(const std::string& folder, const test::temporary_directory& to) {
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::size_t>, byte_vector> made;
  std::size_t number = 0;
  for (const auto& of_class : sorted(folder)) {
    std::filesystem::create_directory(to.path() / of_class.filename());
    for (const auto& image : sorted(of_class)) {
      const image_size size = stored_image_sizes({image.string()}).front();
      byte_vector& file = made[{size.height, size.width, number % 128}];
      if (file.empty())
        file = test::png_bytes(mask_of(size, static_cast<std::uint32_t>(number % 128)),
                               {.has_palette = true});
      to.write((of_class.filename() / image.filename()).replace_extension(".png").string(), file);
      ++number;
    }
  }
}

/// Seven boxes in each image.
std::vector<annotated_image> with_boxes(const std::string& folder) {
  std::vector<annotated_image> images;
  std::uint32_t random = 1;
  for (const labelled& each : images_of(folder)) {
    annotated_image image{.path = each.path.string(),
                          .id = static_cast<std::int64_t>(images.size())};
    const image_size size = stored_image_sizes({image.path}).front();
    for (std::int32_t i = 0; i < 7; ++i) {
      random = random * 1664525 + 1013904223;
      const auto left = static_cast<float>(random / 3 % (size.width / 2));
      const auto top = static_cast<float>(random / 5 % (size.height / 2));
      image.boxes.push_back({left, top, left + static_cast<float>(size.width / 4),
                             top + static_cast<float>(size.height / 3)});
      image.labels.push_back(i);
    }
    images.push_back(std::move(image));
  }
  return images;
}

}  // namespace

std::vector<std::string> image_forms() {
  std::vector<std::string> forms{"folder", "tfrecord", "masks", "boxes"};
#ifdef FEEDLINE_HAS_JSON
  forms.emplace_back("mds");
#endif
#ifdef FEEDLINE_HAS_PARQUET
  forms.emplace_back("parquet");
#endif
  return forms;
}

stored_images::stored_images(std::string form, std::string folder)
    : form_{std::move(form)}, folder_{std::move(folder)} {
  if (form_ == "folder" || form_ == "boxes") return;
  if (form_ == "masks") {
    write_masks(folder_, written_);
    return;
  }
  const std::vector<labelled> images = images_of(folder_);
  std::vector<std::string> shards;
  for (std::size_t first = 0; first < images.size(); first += images_in_file) {
    const auto some = std::span{images}.subspan(first);
    const auto here = some.first(std::min(some.size(), images_in_file));
    const std::string name = "shard." + std::to_string(files_.size()) + '.' + form_;
    const byte_vector content = file_of(form_, here);
    files_.push_back(written_.write(name, content).string());
    shards.push_back(test::mds_shard_text({{"image", "jpeg", "null"}, {"label", "int", "8"}}, name,
                                          content.size(), here.size()));
  }
  if (form_ != "mds") return;
  const std::string index = test::mds_index_text(shards);
  files_ = {written_.write("index.json", std::as_bytes(std::span{index})).string()};
}

dataset_ptr stored_images::open(const image_options& image, double flip) const {
  if (form_ == "folder") return open_image_folder(folder_, {.image = image}).dataset;
  if (form_ == "boxes")
    return make_annotated_dataset(with_boxes(folder_), {.image = image, .flip = flip}).dataset;
  const decoder_ptr by = make_image_decoder(image);
  if (form_ == "masks")
    return open_joined_images({{"image", folder_, by},
                               {"mask", written_.path().string(), make_mask_decoder(image)}})
        .dataset;
  if (form_ == "tfrecord") return open_tfrecord(files_, {.image = by});
  if (form_ == "mds") return open_mds(files_, {.image = by});
  return open_parquet(files_, {.image = by});
}

}  // namespace feedline::bench
