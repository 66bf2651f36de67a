/// JPEGs with coefficients that no image has, decoded by the GPU: pixels are libjpeg's, to the bit.
/// Files are drawn from seeds, and from the inputs of jpeg_pixels_fuzz: from its seed corpus, or
/// from the folder that FEEDLINE_JPEG_INPUTS names, which a fuzzer may have filled.

#include "codecs/jpeg/frame.hpp"
#include "gpu/decode/decoded_images.hpp"
#include "gpu/gpu_stream.hpp"
#include "support/checks/catch.hpp"
#include "support/files/file_bytes.hpp"
#include "support/files/test_data.hpp"
#include "support/images/drawn_jpeg.hpp"
#include "support/images/image_bytes.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <span>
#include <utility>
#include <vector>

using namespace feedline;
using namespace feedline::test;

namespace {

/// Decodes files of one size in a call, and compares their pixels with libjpeg's.
void check_pixels(std::uint16_t height, std::uint16_t width,
                  const std::vector<byte_vector>& files) {
  std::vector<arriving_image> images;
  for (const byte_vector& file : files) images.push_back({file, height, width});
  const decoded_images got = decode_on_gpu({.height = height, .width = width}, images);
  for (std::size_t i = 0; i < files.size(); ++i) {
    const pixels expected = decode_jpeg(files[i]);
    const auto values = std::as_bytes(std::span{expected.values});
    CAPTURE(i, height, width);
    REQUIRE(expected.warnings == 0);
    CHECK(got.good[i]);
    CHECK(std::ranges::equal(got.rows[i], values));
  }
}

/// Whether readers decode the file, because it is grey.
bool is_grey(const byte_vector& file) {
  detail::jpeg_frame frame;
  REQUIRE(detail::read_jpeg_frame(reinterpret_cast<const std::uint8_t*>(file.data()), file.size(),
                                  frame));
  return frame.components == 1;
}

/// Draws batches of so many files, and compares their pixels.
void check_large_coefficients(int batch_size) {
  std::uint32_t seed = 0;
  for (const auto& [height, width] : std::vector<std::pair<std::uint16_t, std::uint16_t>>{
           {8, 8}, {1, 1}, {33, 47}, {64, 40}, {17, 129}, {150, 170}}) {
    std::vector<byte_vector> files;
    for (int i = 0; i < batch_size; ++i)
      files.push_back(draw_jpeg(seed++, {.height = height, .width = width, .components = 3}));
    check_pixels(height, width, files);
  }
}

}  // namespace

TEST_CASE("jpeg on the GPU: coefficients larger than any image's give libjpeg's pixels, in batches",
          "[cuda][decode][gpu][long]") {
  FEEDLINE_NEEDS_GPU();
  check_large_coefficients(300);
}

TEST_CASE("jpeg on the GPU: coefficients larger than any image's, in small batches",
          "[cuda][decode][gpu]") {
  FEEDLINE_NEEDS_GPU();
  check_large_coefficients(30);
}

TEST_CASE("jpeg on the GPU: such a file in a batch of its own gives libjpeg's pixels",
          "[cuda][decode][gpu]") {
  FEEDLINE_NEEDS_GPU();
  for (std::uint32_t seed = 0; seed < 20; ++seed)
    check_pixels(40, 50, {draw_jpeg(seed, {.height = 40, .width = 50, .components = 3})});
  for (const char* const name : {"coefficients_1.jpg", "coefficients_2.jpg"})
    if (const auto path = find_test_data(std::filesystem::path{"found/second/gpu-jpeg"} / name)) {
      const byte_vector file = bytes_of_file(*path);
      const pixels image = decode_jpeg(file);
      check_pixels(static_cast<std::uint16_t>(image.height),
                   static_cast<std::uint16_t>(image.width), {file});
    }
}

TEST_CASE("jpeg on the GPU: JPEGs drawn from the fuzzer's inputs give libjpeg's pixels",
          "[cuda][decode][gpu]") {
  FEEDLINE_NEEDS_GPU();
  // NOLINTNEXTLINE(concurrency-mt-unsafe): no thread changes the environment
  const char* const named = std::getenv("FEEDLINE_JPEG_INPUTS");
  const std::filesystem::path folder = named != nullptr ? named : FEEDLINE_JPEG_CORPUS;
  if (!exists(folder)) FEEDLINE_SKIP("no inputs: name their folder in FEEDLINE_JPEG_INPUTS");
  std::map<std::pair<std::uint16_t, std::uint16_t>, std::vector<byte_vector>>
      files;  // files by their size
  for (const auto& entry : std::filesystem::directory_iterator{folder}) {
    const byte_vector input = bytes_of_file(entry.path());
    const byte_vector file =
        draw_jpeg({reinterpret_cast<const std::uint8_t*>(input.data()), input.size()});
    const pixels image = decode_jpeg(file);
    if (!is_grey(file))
      files[{static_cast<std::uint16_t>(image.height), static_cast<std::uint16_t>(image.width)}]
          .push_back(file);
  }
  CHECK(files.size() > 10);
  for (const auto& [extents, same] : files) check_pixels(extents.first, extents.second, same);
}
