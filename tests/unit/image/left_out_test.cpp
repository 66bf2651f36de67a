#include <feedline/error.hpp>
#include <feedline/image/coco.hpp>
#include <feedline/image/decode.hpp>
#include <feedline/image/voc.hpp>

#include "support/checks/catch.hpp"
#include "support/checks/message_of.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

// This program has the sources that decode images as a build has them that leaves libjpeg and
// libpng out, and nlohmann-json and pugixml.

using namespace feedline;

namespace {

template <std::size_t Size>
std::string refusal(const std::array<std::uint8_t, Size>& file) {
  const decoder_ptr decoder = make_image_decoder({.height = 8, .width = 8});
  const std::span<const std::byte> stored = std::as_bytes(std::span{file});
  const field spec = decoder->describe(stored);
  std::vector<std::byte> pixels(sample_bytes(spec));
  return test::message_of<dataset_error>([&] { decoder->decode(stored, spec, pixels, {}); });
}

}  // namespace

TEST_CASE("images: a feedline built without libjpeg refuses a JPEG, and names the library",
          "[dataset][host]") {
  CHECK(refusal(std::array<std::uint8_t, 6>{0xff, 0xd8, 0xff, 0xe0, 0x00, 0x10}) ==
        "the image cannot be decoded: this feedline was built without libjpeg; install "
        "libjpeg-dev, and build feedline again");
}

TEST_CASE("images: a feedline built without libpng refuses a PNG, and names the library",
          "[dataset][host]") {
  CHECK(refusal(std::array<std::uint8_t, 9>{0x89, 'P', 'N', 'G', 0x0d, 0x0a, 0x1a, 0x0a, 0x00}) ==
        "the image cannot be decoded: this feedline was built without libpng; install libpng-dev, "
        "and build feedline again");
}

TEST_CASE("images: a feedline built without libwebp and libtiff refuses their files by name",
          "[dataset][host]") {
  CHECK(refusal(std::array<std::uint8_t, 12>{'R', 'I', 'F', 'F', 9, 0, 0, 0, 'W', 'E', 'B', 'P'}) ==
        "the image cannot be decoded: this feedline was built without libwebp; install "
        "libwebp-dev, and build feedline again");
  CHECK(refusal(std::array<std::uint8_t, 4>{'I', 'I', 42, 0}) ==
        "the image cannot be decoded: this feedline was built without libtiff; install "
        "libtiff-dev, and build feedline again");
}

TEST_CASE(
    "images: a feedline built without libjpeg and libpng still refuses files that are no images",
    "[dataset][host]") {
  CHECK(refusal(std::array<std::uint8_t, 4>{'G', 'I', 'F', '8'}) ==
        "the image cannot be decoded: it is no JPEG, PNG, WebP, TIFF, BMP, PPM or PGM: it begins "
        "with 47 49 46 38");
}

TEST_CASE("images: a feedline built without nlohmann-json or pugixml refuses COCO or VOC",
          "[dataset][host]") {
  CHECK(test::message_of<dataset_error>([] { (void)open_coco("images", "all.json"); }) ==
        "all.json: this feedline was built without nlohmann-json; install nlohmann-json3-dev, and "
        "build feedline again");
  CHECK(test::message_of<dataset_error>([] { (void)open_voc("root", "val"); }) ==
        "root/ImageSets/Main/val.txt: this feedline was built without pugixml; install "
        "libpugixml-dev, and build feedline again");
}
