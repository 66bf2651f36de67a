/// Images of a folder, and of tar shards, decoded by the GPU: batches and errors beside those of
/// readers.

#include <feedline/formats/tar.hpp>
#include <feedline/image/folder.hpp>
#include <feedline/sampler/shuffle.hpp>

#include "gpu/decode/decoded_epochs.hpp"
#include "support/checks/catch.hpp"
#include "support/devices/device_contract.hpp"
#include "support/files/tar_bytes.hpp"
#include "support/files/temporary_directory.hpp"
#include "support/images/image_bytes.hpp"

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

using namespace feedline;
using namespace feedline::test;

namespace {

constexpr std::uint32_t image_count = 700;
const image_folder_options to_96{.image = {.height = 96, .width = 96, .shorter_side = 104}};

/// Images of many sizes, some grey and some PNGs. Each fourteenth is of a kind that readers decode,
/// and some have stray bytes before the scan or after it.
byte_vector image_file(std::uint32_t i, std::optional<std::uint32_t> damaged) {
  if (i % 7 == 2) {
    byte_vector png = png_bytes(paint(110 + i % 37, 120 + i % 23, 1 + i % 4, i),
                                {.bit_depth = i % 3 == 0 ? 16 : 8});
    if (i == damaged) png[png.size() / 2] ^= std::byte{1};
    return png;
  }
  const bool is_grey = i % 14 == 6;
  byte_vector file = jpeg_bytes(paint(110 + i % 37, 120 + i % 23, is_grey ? 1 : 3, i),
                                {.is_progressive = i % 14 == 13});
  if (i % 21 == 4) file.insert(file.begin() + 20, 3, std::byte{0});  // after JFIF's segment
  if (i % 21 == 9) file.insert(file.end() - 2, 40, std::byte{0});
  if (i == damaged) file.resize(file.size() * 2 / 3);
  return file;
}

/// In two classes.
dataset_ptr folder_in(const std::filesystem::path& root, std::optional<std::uint32_t> damaged = {},
                      const image_folder_options& options = to_96) {
  for (std::uint32_t i = 0; i < image_count; ++i) {
    const byte_vector file = image_file(i, damaged);
    const std::filesystem::path folder = root / (i % 2 == 0 ? "even" : "odd");
    std::filesystem::create_directories(folder);
    std::ofstream{folder / (std::to_string(1000 + i) + ".jpg"), std::ios::binary}.write(
        reinterpret_cast<const char*>(file.data()), static_cast<std::streamsize>(file.size()));
  }
  return open_image_folder(root.string(), options).dataset;
}

/// Windows of the images as they are stored.
const image_folder_options cut{
    .image = {.height = 96, .width = 80, .resized_crop = crop_ranges{}, .reduced_decoding = false}};

/// In two shards, in turn; each with its number as label.
dataset_ptr shards_in(const temporary_directory& root, std::optional<std::uint32_t> damaged = {}) {
  std::vector<tar_bytes> shards(2);
  for (std::uint32_t i = 0; i < image_count; ++i) {
    const std::string key = std::to_string(1000 + i);
    shards[i % 2].add(key + ".jpg", image_file(i, damaged)).add(key + ".cls", std::to_string(i));
  }
  return open_tar(
      {root.write("even.tar", shards[0].ended()), root.write("odd.tar", shards[1].ended())},
      {{"image", {"jpg"}, make_image_decoder(to_96.image)}, {"label", {"cls"}, decode_decimal()}});
}

loader_options options(decode_on who, int readers) {
  return {.batch_size = 16, .readers = readers, .decode_on = who};
}

void check_batches(const dataset_ptr& data) {
  const int readers = GENERATE(0, 3);
  const delivered_epochs seen =
      take_epochs(data, shuffle{.seed = 3}, options(decode_on::device, readers));
  CHECK(seen.error.empty());
  check_same(seen, take_epochs(data, shuffle{.seed = 3}, options(decode_on::cpu, 4)));
}

void check_damage(const dataset_ptr& data) {
  const delivered_epochs expected =
      take_epochs(data, shuffle{.seed = 3}, options(decode_on::cpu, 4));
  REQUIRE_FALSE(expected.error.empty());
  check_same(take_epochs(data, shuffle{.seed = 3}, options(decode_on::device, 2)), expected);
}

}  // namespace

TEST_CASE("jpeg folder on the GPU: batches are those of readers", "[cuda][decode][gpu]") {
  FEEDLINE_NEEDS_GPU();
  const temporary_directory root;
  check_batches(folder_in(root.path()));
}

TEST_CASE("jpeg folder on the GPU: a damaged file ends the epoch as it does where readers decode",
          "[cuda][decode][gpu]") {
  FEEDLINE_NEEDS_GPU();
  const temporary_directory root;
  check_damage(folder_in(root.path(), 411));
}

TEST_CASE("jpeg folder on the GPU: windows of images are those of readers, in each epoch",
          "[cuda][decode][gpu]") {
  FEEDLINE_NEEDS_GPU();
  const temporary_directory root;
  const dataset_ptr data = folder_in(root.path(), {}, cut);
  check_batches(data);
  const delivered_epochs seen =
      take_epochs(data, shuffle{.seed = 3}, options(decode_on::device, 2));
  const std::size_t an_epoch = seen.images.size() / 2;
  CHECK(seen.images[0] != seen.images[an_epoch]);
}

TEST_CASE("jpeg folder on the GPU: ranks get their own samples, each on a GPU where there are two",
          "[cuda][decode][gpu]") {
  FEEDLINE_NEEDS_GPU();
  const temporary_directory root;
  check_ranks(folder_in(root.path()), shuffle{.seed = 3});
}

TEST_CASE("jpeg shards on the GPU: batches are those of readers", "[cuda][decode][gpu]") {
  FEEDLINE_NEEDS_GPU();
  const temporary_directory root;
  check_batches(shards_in(root));
}

TEST_CASE("jpeg shards on the GPU: a damaged member ends the epoch as it does where readers decode",
          "[cuda][decode][gpu]") {
  FEEDLINE_NEEDS_GPU();
  const temporary_directory root;
  check_damage(shards_in(root, 411));
}
