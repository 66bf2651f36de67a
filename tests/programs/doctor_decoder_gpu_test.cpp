// feedline-doctor on a real GPU: files that it decodes much faster than a few readers do. `-s`
// shows the figures.

#include "programs/doctor_runs.hpp"
#include "support/files/image_bytes.hpp"

#include <array>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

using namespace feedline;
using namespace feedline::test;

namespace {

/// 400 MB of images, compressed by deflate in chunks of 200 KB.
std::string write_deflated(const temporary_directory& folder) {
  constexpr hsize_t samples = 512'000;
  std::vector<std::uint8_t> values(samples * 784);
  std::uint32_t noise = 1;
  for (std::size_t i = 0; i < values.size(); ++i) {
    noise = noise * 1'664'525 + 1'013'904'223;
    values[i] = static_cast<std::uint8_t>(i / 28 % 28 * 8 + (noise >> 30));
  }
  hdf5_writer writer{folder.path() / "images.h5"};
  writer.write("image", H5T_STD_U8LE, {samples, 784}, H5T_NATIVE_UINT8, values.data(),
               chunked("", {256, 784}, [](hid_t creation) { H5Pset_deflate(creation, 4); }));
  return writer.close().string();
}

/// 4,000 photographs in two classes, of 32 different ones.
std::string write_photographs(const temporary_directory& folder) {
  std::vector<byte_vector> different;
  for (std::uint32_t i = 0; i < 32; ++i) different.push_back(jpeg_bytes(paint(375, 500, 3, i)));
  const std::array<std::string, 2> classes{"cat", "dog"};
  for (const std::string& name : classes) std::filesystem::create_directory(folder.path() / name);
  for (std::uint32_t i = 0; i < 4000; ++i)
    (void)folder.write(classes.at(i % 2) + '/' + std::to_string(i) + ".jpg", different[i % 32]);
  return folder.path().string();
}

/// The recommendation is the GPU's decoder, by rates that were measured, and its loop is faster.
void check_recommended(std::vector<std::string> arguments) {
  arguments.insert(arguments.end(), {"--gpu", "0", "--max-readers", "4", "--readers", "4",
                                     "--seconds", "12", "--json", "-"});
  const auto json = run_doctor(arguments).json();
  const auto& recommended = json["recommended"];
  INFO("decoder: " << json["decoder"].dump());
  INFO("readers: " << json["gather"].dump());
  INFO("recommended: " << recommended.dump());
  CHECK(json["decoder"]["not_measured"] == "");
  CHECK(json["decoder"]["readers"].size() == 3);
  CHECK(recommended["decode_on"] == "device");
  CHECK(recommended["readers"] <= 4);
  CHECK(says(recommended["reasons"][0], "decode_on device: where the GPU decodes, "));
  CHECK(says(recommended["reasons"][0], " times the "));
  CHECK(says(recommended["code"], ".decode_on = feedline::decode_on::device"));
  REQUIRE(json["loops"].size() == 2);
  const auto& as_it_is = json["loops"][0];
  const auto& better = json["loops"][1];
  INFO("a batch: " << as_it_is["batch_ns"] << " ns, " << better["batch_ns"] << " as recommended");
  CHECK(better["decode_on"] == "device");
  CHECK(better["batch_ns"].get<double>() < as_it_is["batch_ns"].get<double>() / 2);
  CHECK(says(as_it_is["statistics"]["verdict"]["next"], "decode_on::device"));
}

}  // namespace

TEST_CASE("doctor on a GPU: it recommends that the GPU decode a deflated file", "[programs][gpu]") {
  if (!doctor::find_gpu(0).found) FEEDLINE_SKIP(doctor::find_gpu(0).refusal);
  const temporary_directory folder;
  check_recommended({write_deflated(folder), "--order", "windows"});
}

TEST_CASE("doctor on a GPU: it recommends that the GPU decode a folder of JPEG files",
          "[programs][gpu]") {
  if (!doctor::find_gpu(0).found) FEEDLINE_SKIP(doctor::find_gpu(0).refusal);
  const temporary_directory folder;
  check_recommended({write_photographs(folder), "--resize", "256x256"});
}
