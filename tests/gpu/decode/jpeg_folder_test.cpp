/// Images of a folder, and of tar shards, decoded by the GPU: batches and errors beside those of
/// readers.

#include <feedline/cuda/device.hpp>
#include <feedline/error.hpp>
#include <feedline/formats/tar.hpp>
#include <feedline/image/folder.hpp>
#include <feedline/loader/loader.hpp>
#include <feedline/sampler/shuffle.hpp>

#include "gpu/gpu_stream.hpp"
#include "support/checks/catch.hpp"
#include "support/devices/device_contract.hpp"
#include "support/files/image_bytes.hpp"
#include "support/files/tar_bytes.hpp"
#include "support/files/temporary_directory.hpp"

#include <cuda_runtime_api.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <regex>
#include <string>
#include <vector>

using namespace feedline;
using namespace feedline::test;

namespace {

constexpr std::uint32_t image_count = 700;
const image_folder_options to_96{.image = {.height = 96, .width = 96, .shorter_side = 104}};

/// Of many sizes. Each seventh is of a kind that readers decode.
byte_vector image_file(std::uint32_t i, std::optional<std::uint32_t> damaged) {
  const bool is_grey = i % 14 == 6;
  byte_vector file = jpeg_bytes(paint(110 + i % 37, 120 + i % 23, is_grey ? 1 : 3, i),
                                {.is_progressive = i % 14 == 13});
  if (i == damaged) file.resize(file.size() * 2 / 3);
  return file;
}

/// In two classes.
dataset_ptr folder_in(const std::filesystem::path& root,
                      std::optional<std::uint32_t> damaged = {}) {
  for (std::uint32_t i = 0; i < image_count; ++i) {
    const byte_vector file = image_file(i, damaged);
    const std::filesystem::path folder = root / (i % 2 == 0 ? "even" : "odd");
    std::filesystem::create_directories(folder);
    std::ofstream{folder / (std::to_string(1000 + i) + ".jpg"), std::ios::binary}.write(
        reinterpret_cast<const char*>(file.data()), static_cast<std::streamsize>(file.size()));
  }
  return open_image_folder(root.string(), to_96).dataset;
}

/// In two shards, in turns; each with its number as label.
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

struct taken {
  std::vector<std::vector<std::uint8_t>> images;  ///< of batches
  std::vector<std::vector<std::uint8_t>> labels;
  std::string error;
};

std::vector<std::uint8_t> on_host(const tensor_view& values) {
  std::vector<std::uint8_t> host(values.bytes().size());
  FEEDLINE_CUDA_CHECK(
      cudaMemcpy(host.data(), values.bytes().data(), host.size(), cudaMemcpyDeviceToHost));
  return host;
}

taken take_epochs(const dataset_ptr& data, decode_on who, int readers, const gpu_stream& stream) {
  loader loader{data,
                shuffle{.seed = 3},
                make_cuda_device(0),
                {.batch_size = 16,
                 .readers = readers,
                 .epochs = 2,
                 .placement = placement::stream,
                 .decode_on = who}};
  INFO(loader.plan().decode_note);
  REQUIRE(loader.plan().decode_on == who);
  taken all;
  try {
    for (std::uint64_t epoch = 0; epoch < 2; ++epoch)
      for (const batch& batch : loader.epoch(epoch, stream.ref())) {
        FEEDLINE_CUDA_CHECK(cudaStreamSynchronize(stream.get()));
        all.images.push_back(on_host(batch["image"]));
        all.labels.push_back(on_host(batch["label"]));
      }
  } catch (const stage_error& failure) {
    // Tickets are numbered as slots are cut, which differs.
    all.error = std::regex_replace(failure.what(), std::regex{" \\(ticket [0-9]+\\)"}, "");
  }
  return all;
}

void check_batches(const dataset_ptr& data) {
  const gpu_stream stream;
  const int readers = GENERATE(0, 3);
  const taken expected = take_epochs(data, decode_on::cpu, 4, stream);
  const taken seen = take_epochs(data, decode_on::device, readers, stream);
  CHECK(seen.error.empty());
  CHECK(seen.labels == expected.labels);
  REQUIRE(seen.images.size() == expected.images.size());
  for (std::size_t i = 0; i < seen.images.size(); ++i) {
    CAPTURE(i);
    CHECK((seen.images[i] == expected.images[i]));
  }
}

void check_damage(const dataset_ptr& data) {
  const gpu_stream stream;
  const taken expected = take_epochs(data, decode_on::cpu, 4, stream);
  const taken seen = take_epochs(data, decode_on::device, 2, stream);
  REQUIRE_FALSE(expected.error.empty());
  CHECK(seen.error == expected.error);
  CHECK(seen.labels == expected.labels);
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
