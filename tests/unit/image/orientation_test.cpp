/// EXIF orientation: images are turned, or the log reports that they are not.

#include "image/orientation.hpp"

#include <feedline/error.hpp>
#include <feedline/image/annotations.hpp>
#include <feedline/image/folder.hpp>
#include <feedline/sampler/shuffle.hpp>

#include "support/checks/catch.hpp"
#include "support/checks/contains.hpp"
#include "support/checks/log_capture.hpp"
#include "support/checks/message_of.hpp"
#include "support/files/temporary_directory.hpp"
#include "support/images/image_bytes.hpp"
#include "unit/image/annotated_images.hpp"
#include "unit/image/decoded_file.hpp"
#include "unit/image/decoded_images.hpp"

#include <zlib.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

using namespace feedline;
using namespace feedline::test;
using detail::orientation;

namespace {

/// EXIF's data with an entry before the orientation. @param is_little Byte order.
byte_vector exif(unsigned number, bool is_little = true) {
  byte_vector bytes;
  const auto put = [&](std::uint32_t value, int size) {
    for (int i = 0; i < size; ++i)
      bytes.push_back(static_cast<std::byte>(value >> 8 * (is_little ? i : size - 1 - i)));
  };
  bytes.assign(2, is_little ? std::byte{'I'} : std::byte{'M'});
  put(42, 2);
  put(8, 4);
  put(2, 2);
  for (const std::uint32_t tag : {0x0100U, 0x0112U}) {
    put(tag, 2);
    put(3, 2);
    put(1, 4);
    put(tag == 0x0112 ? number : 77, 2);
    put(0, 2);
  }
  put(0, 4);
  return bytes;
}

byte_vector bytes_of(const std::string& text) {
  byte_vector bytes(text.size());
  std::memcpy(bytes.data(), text.data(), text.size());
  return bytes;
}

/// The JPEG with a segment of EXIF after its first one.
byte_vector with_exif(byte_vector file, const byte_vector& data) {
  byte_vector segment{std::byte{0xFF}, std::byte{0xE1}};
  const std::size_t length = 2 + 6 + data.size();
  segment.push_back(static_cast<std::byte>(length >> 8));
  segment.push_back(static_cast<std::byte>(length));
  for (const char letter : {'E', 'x', 'i', 'f', '\0', '\0'})
    segment.push_back(static_cast<std::byte>(letter));
  segment.insert(segment.end(), data.begin(), data.end());
  file.insert(file.begin() + 20, segment.begin(), segment.end());  // after JFIF's segment
  return file;
}

byte_vector png_with_exif(byte_vector file, const byte_vector& data) {
  byte_vector chunk;
  const auto put = [&](std::uint32_t value) {
    for (int i = 3; i >= 0; --i) chunk.push_back(static_cast<std::byte>(value >> 8 * i));
  };
  put(static_cast<std::uint32_t>(data.size()));
  for (const char letter : {'e', 'X', 'I', 'f'}) chunk.push_back(static_cast<std::byte>(letter));
  chunk.insert(chunk.end(), data.begin(), data.end());
  put(static_cast<std::uint32_t>(crc32(0, reinterpret_cast<const Bytef*>(chunk.data() + 4),
                                       static_cast<uInt>(chunk.size() - 4))));
  file.insert(file.begin() + 33, chunk.begin(), chunk.end());  // after the header
  return file;
}

pixels mirrored(const pixels& from) {
  pixels to = from;
  for (std::uint32_t y = 0; y < from.height; ++y)
    for (std::uint32_t x = 0; x < from.width; ++x)
      for (std::uint32_t c = 0; c < 3; ++c)
        to.values[(std::size_t{y} * to.width + x) * 3 + c] = from.at(y, from.width - 1 - x, c);
  return to;
}

/// Turned by a quarter, clockwise.
pixels turned(const pixels& from) {
  pixels to{from.width, from.height, 3, from.values};
  for (std::uint32_t y = 0; y < to.height; ++y)
    for (std::uint32_t x = 0; x < to.width; ++x)
      for (std::uint32_t c = 0; c < 3; ++c)
        to.values[(std::size_t{y} * to.width + x) * 3 + c] = from.at(from.height - 1 - x, y, c);
  return to;
}

/// The image as EXIF's standard defines its number: quarter turns, of the mirrored image if it is
/// one of the mirrored numbers.
pixels shown(const pixels& stored, unsigned number) {
  constexpr std::array<int, 9> quarters{0, 0, 0, 2, 2, 3, 1, 1, 3};
  constexpr std::array<bool, 9> is_mirrored{false, false, true, false, true,
                                            true,  false, true, false};
  pixels image = is_mirrored[number] ? mirrored(stored) : stored;
  for (int i = 0; i < quarters[number]; ++i) image = turned(image);
  return image;
}

image_options following(std::uint32_t height, std::uint32_t width) {
  return {.height = height, .width = width, .follow_orientation = true};
}

}  // namespace

TEST_CASE("orientation: images are turned by EXIF, or come as they are stored", "[dataset][host]") {
  const unsigned number = GENERATE(1U, 2U, 3U, 4U, 5U, 6U, 7U, 8U);
  const bool is_little = GENERATE(true, false);
  const pixels painted = paint(24, 37);
  const byte_vector jpeg = with_exif(jpeg_bytes(painted), exif(number, is_little));
  const byte_vector png = png_with_exif(png_bytes(painted), exif(number, is_little));
  CAPTURE(number, is_little);
  for (const auto& [file, stored] : {std::pair{jpeg, decode_jpeg(jpeg)}, std::pair{png, painted}}) {
    CHECK(orientation::of(file).number() == number);
    const pixels wanted = shown(stored, number);
    CHECK((decode(file, following(wanted.height, wanted.width)) == wanted.values));
    CHECK((decode(file, as_it_is(24, 37)) == stored.values));
    image_options planes = following(wanted.height, wanted.width);
    planes.layout = image_layout::chw;
    const auto by_plane = decode(file, planes);
    bool is_same = true;
    for (std::size_t i = 0; i < std::size_t{24} * 37; ++i)
      for (std::size_t c = 0; c < 3; ++c)
        is_same = is_same && by_plane[c * 24 * 37 + i] == wanted.values[3 * i + c];
    CHECK(is_same);
    image_options wide = following(wanted.height, wanted.width);
    wide.type = element_type::u16;
    const auto values = decode(file, wide);
    for (std::size_t i = 0; i < values.size(); ++i)
      is_same = is_same && values[i] == wanted.values[i / 2];
    CHECK(is_same);
  }
}

TEST_CASE("orientation: sizes, cuts and windows are those of the turned image", "[dataset][host]") {
  const unsigned number = GENERATE(2U, 3U, 4U, 5U, 6U, 7U, 8U);
  const pixels painted = paint(60, 85);
  const byte_vector stored = png_with_exif(png_bytes(painted), exif(number));
  const byte_vector turned_file = png_bytes(shown(painted, number));
  std::vector<image_options> all{{.height = 20, .width = 33},
                                 {.height = 20, .width = 33, .shorter_side = 40},
                                 {.height = 31, .width = 20, .shorter_side = 50},
                                 {.height = 20, .width = 33, .resized_crop = crop_ranges{}}};
  const auto filter =
      GENERATE(interpolation::bilinear, interpolation::bicubic, interpolation::nearest);
  all.push_back({.height = 10, .width = 17, .shorter_side = 30});  // the middle is between pixels
  for (image_options& options : all) {
    options.interpolation = filter;
    const auto wanted = decode(turned_file, options);
    options.follow_orientation = true;
    const auto seen = decode(stored, options);
    int worst = 0;
    for (std::size_t i = 0; i < seen.size(); ++i)
      worst = std::max(worst, std::abs(int{seen[i]} - int{wanted[i]}));
    CAPTURE(number, options.shorter_side, options.resized_crop.has_value());
    // Axes are resized in the other order.
    CHECK(worst <= (filter == interpolation::nearest ? 0 : 1));
  }
}

TEST_CASE("orientation: boxes are those of the turned image, whose size is compared",
          "[dataset][host]") {
  const temporary_directory folder;
  const byte_vector file = png_with_exif(png_bytes(paint(100, 160)), exif(6));
  annotated_image image{.path = folder.write("a.png", file).string(),
                        .height = 160,
                        .width = 100,
                        .boxes = {{10, 20, 60, 120}},
                        .labels = {0}};
  annotation_options options{.image = {.height = 80, .width = 50, .follow_orientation = true}};
  const auto boxes = [&] { return boxes_of(*make_annotated_dataset({image}, options).dataset, 0); };
  const std::vector<box> wanted{{5, 10, 30, 60}};
  CHECK((boxes() == wanted));
  image.height = image.width = 0;  // those of the file
  CHECK((boxes() == wanted));
  image.height = 100;
  image.width = 160;
  image.boxes = {{10, 20, 60, 100}};
  CHECK(contains(message_of<dataset_error>([&] { (void)boxes(); }),
                 "it is 100 x 160 pixels, but its annotation says 160 x 100"));
  options.image.follow_orientation = false;
  CHECK(boxes().size() == 1);
}

TEST_CASE("orientation: EXIF with the name of JPEG's segment before it is followed, too",
          "[dataset][host]") {
  byte_vector named = bytes_of("Exif");
  named.resize(6);
  const byte_vector data = exif(6);
  named.insert(named.end(), data.begin(), data.end());
  CHECK(orientation::of(png_with_exif(png_bytes(paint(24, 37)), named)).number() == 6);
  byte_vector webp = bytes_of("RIFF....WEBPEXIF");
  webp.insert(webp.end(), {std::byte{40}, std::byte{0}, std::byte{0}, std::byte{0}});
  webp.insert(webp.end(), named.begin(), named.end());
  webp.resize(12 + 8 + 40);
  CHECK(orientation::of(webp).number() == 6);
}

TEST_CASE("orientation: an image without EXIF, or with damaged EXIF, comes as it is stored",
          "[dataset][host]") {
  const byte_vector plain = jpeg_bytes(paint(24, 37));
  CHECK(orientation::of(plain).is_upright());
  CHECK(orientation::of({}).is_upright());
  for (const unsigned number : {0U, 9U, 65535U})
    CHECK(orientation::of(with_exif(plain, exif(number))).is_upright());
  const byte_vector whole = exif(6);
  for (std::ptrdiff_t size = 0; size < 34; ++size)
    CHECK(orientation::of(with_exif(plain, {whole.begin(), whole.begin() + size})).is_upright());
  for (std::size_t at = 0; at < 34; ++at)
    for (const unsigned value : {0U, 0xFFU}) {
      byte_vector damaged = whole;
      damaged[at] = static_cast<std::byte>(value);
      const byte_vector file = with_exif(plain, damaged);
      for (std::size_t size = 0; size <= file.size(); size += size < 120 ? 1 : 50)
        CHECK(orientation::of(std::span{file}.first(size)).number() <= 8);
      CHECK_NOTHROW(decode(file, following(24, 37)));
    }
}

TEST_CASE("orientation: the log tells once of images that it does not turn", "[dataset][host]") {
  const byte_vector file = with_exif(jpeg_bytes(paint(24, 37)), exif(6));
  const std::string words =
      "images: an image has EXIF orientation 6, and is read as it is stored; set "
      "image_options::follow_orientation to turn such images. This is logged once for all images "
      "of one decoder";
  const bool follows = GENERATE(false, true);
  const bool on_device = GENERATE(false, true);
  image_options options = as_it_is(24, 37);
  options.follow_orientation = follows;
  const decoder_ptr decoder = make_image_decoder(options);
  const field spec = decoder->describe({});
  const log_capture captured;
  for (int i = 0; i < 3; ++i) {
    std::vector<std::byte> out(sample_bytes(spec));
    if (on_device)
      CHECK(decoder->for_device(file, {})->orientation == (follows ? 6 : 1));
    else
      decoder->decode(file, spec, out, {});
  }
  const auto first = captured.text().find(words);
  CHECK((first != std::string::npos) == !follows);
  CHECK(captured.text().find(words, first + 1) == std::string::npos);
}

TEST_CASE("orientation: devices turn images as readers do", "[loader][host]") {
  const temporary_directory folder;
  std::filesystem::create_directory(folder.path() / "a");
  for (std::uint32_t i = 0; i < images; ++i)
    folder.write(
        "a/" + std::to_string(100 + i) + ".jpg",
        with_exif(jpeg_bytes(paint(20 + i, 30), {.is_progressive = i % 7 == 3}), exif(i % 9)));
  image_options options = GENERATE(
      image_options{.height = 12, .width = 10},
      image_options{.height = 12, .width = 10, .shorter_side = 14},
      image_options{.height = 12, .width = 10, .resized_crop = crop_ranges{}},
      image_options{.height = 12, .width = 10, .fit = image_fit::letterbox, .fill = {1, 2, 3}},
      image_options{.height = 40,
                    .width = 60,
                    .fit = image_fit::pad,
                    .size_divisible = 8,
                    .fill = {9, 8, 7},
                    .flip = 0.5});
  options.follow_orientation = true;
  options.interpolation = GENERATE(interpolation::bilinear, interpolation::nearest);
  const dataset_ptr data = open_image_folder(folder.path(), {.image = options}).dataset;
  for (std::uint32_t i = 0; i < images; ++i) {
    const auto block = given(data, i);
    const bool is_for_readers = i % 7 == 3;
    CHECK(block.skipped == (is_for_readers ? 1 : 0));
    CHECK(block.orientation == (is_for_readers || i % 9 == 0 ? 1 : i % 9));
  }
  check_same(data, shuffle{.seed = 4}, {.batch_size = 7, .readers = 3});
}
