/// Tests the formats of images beside JPEG and PNG: BMP, PPM and PGM, and, where their libraries
/// are, WebP and TIFF.

#include <feedline/image/annotations.hpp>
#include <feedline/image/folder.hpp>

#include "image/stored_extents.hpp"
#include "support/checks/catch.hpp"
#include "support/checks/contains.hpp"
#include "support/files/temporary_directory.hpp"
#include "support/images/image_bytes.hpp"
#include "unit/image/annotated_images.hpp"
#include "unit/image/decoded_file.hpp"

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#ifdef FEEDLINE_HAS_WEBP
#include <webp/encode.h>
#endif
#ifdef FEEDLINE_HAS_TIFF
#include <tiffio.h>
#endif

using namespace feedline;
using namespace feedline::test;

namespace {

constexpr std::uint32_t height = 21;
constexpr std::uint32_t width = 34;

byte_vector bytes_of(const std::string& text) {
  byte_vector bytes(text.size());
  std::memcpy(bytes.data(), text.data(), text.size());
  return bytes;
}

std::string text_of(const pixels& image) {
  return {image.values.begin(), image.values.end()};
}

byte_vector pnm_bytes(const pixels& image) {
  return bytes_of((image.channels == 3 ? "P6\n# a comment\n" : "P5 ") +
                  std::to_string(image.width) + ' ' + std::to_string(image.height) + "\n255\n" +
                  text_of(image));
}

void add(std::string& to, std::uint64_t number, int bytes) {
  for (int i = 0; i < bytes; ++i) to += static_cast<char>(number >> 8 * i & 255U);
}

/// @param bits 24, 32, or 8: indices into a palette of greys.
byte_vector bmp_bytes(const pixels& image, std::uint32_t bits, bool from_top = false) {
  std::string file = "BM";
  const std::uint32_t palette = bits == 8 ? 1024 : 0;
  for (const std::uint32_t each : {0U, 0U, 54 + palette, 40U}) add(file, each, 4);
  add(file, image.width, 4);
  add(file, from_top ? 0U - image.height : image.height, 4);
  add(file, 1, 2);
  add(file, bits, 2);
  for (int i = 0; i < 6; ++i) add(file, 0, 4);
  for (std::uint32_t i = 0; i < palette / 4; ++i) add(file, i * 0x010101U, 4);
  for (std::uint32_t y = 0; y < image.height; ++y) {
    const std::uint32_t row = from_top ? y : image.height - 1 - y;
    for (std::uint32_t x = 0; x < image.width; ++x) {
      if (bits == 8) {
        add(file, image.at(row, x, 0), 1);
      } else {
        for (std::uint32_t c = 3; c-- > 0;) add(file, image.at(row, x, c), 1);
        if (bits == 32) add(file, 77, 1);
      }
    }
    while ((file.size() - 54 - palette) % 4 != 0) file += '\0';
  }
  return bytes_of(file);
}

/// A grey image's values three times.
std::vector<std::uint8_t> repeated(const pixels& grey) {
  std::vector<std::uint8_t> values;
  for (const std::uint8_t value : grey.values) values.insert(values.end(), 3, value);
  return values;
}

#ifdef FEEDLINE_HAS_WEBP
byte_vector webp_bytes(const pixels& image) {
  std::uint8_t* made = nullptr;
  const auto size = WebPEncodeLosslessRGB(image.values.data(), static_cast<int>(image.width),
                                          static_cast<int>(image.height),
                                          static_cast<int>(3 * image.width), &made);
  const auto* const begin = reinterpret_cast<const std::byte*>(made);
  byte_vector bytes(begin, begin + size);
  WebPFree(made);
  return bytes;
}

/// With loss, and with alpha, whose file says the size before its parts.
byte_vector lossy_webp_bytes(const pixels& image) {
  std::uint8_t* made = nullptr;
  auto* const encode = image.channels == 4 ? WebPEncodeRGBA : WebPEncodeRGB;
  const auto size =
      encode(image.values.data(), static_cast<int>(image.width), static_cast<int>(image.height),
             static_cast<int>(image.channels * image.width), 80, &made);
  const auto* const begin = reinterpret_cast<const std::byte*>(made);
  byte_vector bytes(begin, begin + size);
  WebPFree(made);
  return bytes;
}
#endif

#ifdef FEEDLINE_HAS_TIFF
struct tiff_style {
  int bits = 8;  ///< 16: each value is doubled to v × 257 + 1, without the last
  int compression = COMPRESSION_NONE;
  int meaning = PHOTOMETRIC_RGB;
  int extra = -1;  ///< meaning of a fourth channel
  bool is_tiled = false;
  int orientation = 0;
  const char* mode = "w";  ///< "w8": a big TIFF
};

byte_vector tiff_bytes(const pixels& image, const tiff_style& style = {}) {
  const temporary_directory folder;
  const std::string path = (folder.path() / "one.tif").string();
  TIFF* const file = TIFFOpen(path.c_str(), style.mode);
  REQUIRE(file != nullptr);
  TIFFSetField(file, TIFFTAG_IMAGEWIDTH, image.width);
  TIFFSetField(file, TIFFTAG_IMAGELENGTH, image.height);
  TIFFSetField(file, TIFFTAG_BITSPERSAMPLE, style.bits);
  TIFFSetField(file, TIFFTAG_SAMPLESPERPIXEL, static_cast<int>(image.channels));
  TIFFSetField(file, TIFFTAG_PHOTOMETRIC, style.meaning);
  TIFFSetField(file, TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG);
  TIFFSetField(file, TIFFTAG_COMPRESSION, style.compression);
  if (style.orientation != 0) TIFFSetField(file, TIFFTAG_ORIENTATION, style.orientation);
  if (style.extra >= 0) {
    const auto extra = static_cast<std::uint16_t>(style.extra);
    TIFFSetField(file, TIFFTAG_EXTRASAMPLES, 1, &extra);
  }
  const std::uint32_t value_bytes = style.bits == 16 ? 2 : 1;
  const std::size_t pixel = std::size_t{image.channels} * value_bytes;
  const auto put = [&](std::uint8_t* to, std::uint32_t y, std::uint32_t x) {
    for (std::uint32_t c = 0; c < image.channels; ++c, to += value_bytes) {
      const auto value = static_cast<std::uint16_t>(image.at(y, x, c) * 257);
      if (value_bytes == 2)
        std::memcpy(to, &value, 2);
      else
        *to = image.at(y, x, c);
    }
  };
  if (style.is_tiled) {
    constexpr std::uint32_t side = 16;
    TIFFSetField(file, TIFFTAG_TILEWIDTH, side);
    TIFFSetField(file, TIFFTAG_TILELENGTH, side);
    for (std::uint32_t top = 0; top < image.height; top += side)
      for (std::uint32_t left = 0; left < image.width; left += side) {
        std::vector<std::uint8_t> tile(side * side * pixel);
        for (std::uint32_t y = top; y < std::min(top + side, image.height); ++y)
          for (std::uint32_t x = left; x < std::min(left + side, image.width); ++x)
            put(&tile[((y - top) * side + x - left) * pixel], y, x);
        TIFFWriteTile(file, tile.data(), left, top, 0, 0);
      }
  } else {
    TIFFSetField(file, TIFFTAG_ROWSPERSTRIP, 5);
    std::vector<std::uint8_t> row(image.width * pixel);
    for (std::uint32_t y = 0; y < image.height; ++y) {
      for (std::uint32_t x = 0; x < image.width; ++x) put(&row[x * pixel], y, x);
      TIFFWriteScanline(file, row.data(), y, 0);
    }
  }
  TIFFClose(file);
  std::ifstream in{path, std::ios::binary};
  return bytes_of({std::istreambuf_iterator<char>{in}, {}});
}
#endif

/// One file of each format.
std::vector<byte_vector> all_files(const pixels& image) {
  std::vector<byte_vector> files{pnm_bytes(image), bmp_bytes(image, 24)};
#ifdef FEEDLINE_HAS_WEBP
  files.push_back(webp_bytes(image));
#endif
#ifdef FEEDLINE_HAS_TIFF
  files.push_back(tiff_bytes(image));
  files.push_back(tiff_bytes(image, {.compression = COMPRESSION_LZW, .is_tiled = true}));
#endif
  return files;
}

}  // namespace

TEST_CASE("other formats: pixels are those that are stored", "[dataset][host]") {
  const pixels colours = paint(height, width);
  const pixels grey = paint(height, width, 1);
  const image_options whole = as_it_is(height, width);
  for (const byte_vector& file : all_files(colours)) CHECK(decode(file, whole) == colours.values);
  CHECK(decode(pnm_bytes(grey), whole) == repeated(grey));
  for (const bool from_top : {false, true}) {
    CHECK(decode(bmp_bytes(colours, 24, from_top), whole) == colours.values);
    CHECK(decode(bmp_bytes(colours, 32, from_top), whole) == colours.values);
    CHECK(decode(bmp_bytes(grey, 8, from_top), whole) == repeated(grey));
  }
}

TEST_CASE("other formats: a PGM's values are scaled to its largest, and 16 bits stay",
          "[dataset][host]") {
  image_options options{.height = 1, .width = 3, .channels = 1};
  CHECK(decode(bytes_of(std::string{"P5 3 1 15\n\x00\x05\x0f", 13}), options) ==
        std::vector<std::uint8_t>{0, 85, 255});
  const byte_vector wide = bytes_of(std::string{"P5 3 1 65535\n\x00\x00\x12\x34\xff\xff", 19});
  CHECK(decode(wide, options) == std::vector<std::uint8_t>{0, 18, 255});
  options.type = element_type::u16;
  CHECK(decode(wide, options) == std::vector<std::uint8_t>{0, 0, 0x34, 0x12, 0xff, 0xff});
}

TEST_CASE("other formats: a file cut short anywhere is refused", "[dataset][host]") {
  for (const byte_vector& file : all_files(paint(height, width)))
    for (std::size_t size = 0; size < file.size() - 1; size += 13) {
      CAPTURE(size, file.size());
      CHECK(contains(refusal(std::span{file}.first(size), as_it_is(height, width)), undecodable));
    }
}

TEST_CASE("other formats: more pixels than allowed, and none, are refused before they are made",
          "[dataset][host]") {
  image_options few = as_it_is(height, width);
  few.max_pixels = height * width - 1;
  for (const byte_vector& file : all_files(paint(height, width)))
    CHECK(contains(refusal(file, few), "34 x 21 pixels, and more than 713 are refused"));
  const image_options any{.height = 4, .width = 4};
  CHECK(contains(refusal(bytes_of("P6 65535 65535 255\n"), any), "65535 x 65535 pixels"));
  CHECK(contains(refusal(bytes_of("P6 99999999999 3 255\n"), any), "a side is 1 to 65535 long"));
  CHECK(contains(refusal(bytes_of("P6 0 3 255\n"), any), "0 x 3 pixels"));
  byte_vector bmp = bmp_bytes(paint(2, 2), 24);
  std::memset(&bmp[18], 0xff, 8);  // width and height
  CHECK(contains(refusal(bmp, any), "a side is 1 to 65535 long"));
}

TEST_CASE("other formats: kinds that are not read are refused by name", "[dataset][host]") {
  const image_options any{.height = 4, .width = 4};
  CHECK(refusal(bytes_of("P3 1 1 255\n1 2 3\n"), any) ==
        undecodable + "it is a PNM of kind P3; only P5 (PGM) and P6 (PPM) are read");
  CHECK(contains(refusal(bytes_of("P5 1 1 0\n1"), any), "its largest value is 0"));
  CHECK(contains(refusal(bytes_of("P5 1 x 9\n1"), any), "its header is damaged"));
  byte_vector bmp = bmp_bytes(paint(2, 2), 24);
  bmp[30] = std::byte{1};
  CHECK(contains(refusal(bmp, any), "a BMP of 24 bits and compression 1"));
  bmp[14] = std::byte{12};
  CHECK(contains(refusal(bmp, any), "a BMP of OS/2"));
}

TEST_CASE("other formats: sizes are known from headers, and compared with an annotation's",
          "[dataset][host]") {
  const pixels image = paint(height, width);
  std::vector<byte_vector> files = all_files(image);
  files.push_back(bmp_bytes(image, 32, true));
#ifdef FEEDLINE_HAS_WEBP
  files.push_back(lossy_webp_bytes(image));
  files.push_back(lossy_webp_bytes(paint(height, width, 4)));
#endif
#ifdef FEEDLINE_HAS_TIFF
  for (const char* const mode : {"w8", "wb", "wb8"})
    files.push_back(tiff_bytes(image, {.mode = mode}));
#endif
  const temporary_directory folder;
  const annotation_options options{.image = as_it_is(height, width)};
  for (const byte_vector& file : files) {
    CAPTURE(&file - files.data());
    annotated_image one{.path = folder.write("one", file).string()};
    const dataset_ptr made = make_annotated_dataset({one}, options).dataset;
    CHECK(field_of<std::int32_t>(*made, 0, "size") == std::vector<std::int32_t>{height, width});
    CHECK(field_of<std::uint8_t>(*made, 0, "image").size() == image.values.size());
    one.height = width;
    one.width = height;
    const dataset_ptr wrong = make_annotated_dataset({one}, options).dataset;
    CHECK(contains(message_of<dataset_error>([&] { (void)read_sample(*wrong, {0}); }),
                   "it is 34 x 21 pixels, but its annotation says 21 x 34"));
    for (std::size_t size = 0; size < file.size(); size += size < 40 ? 1 : 37)
      (void)detail::stored_extents(std::span{file}.first(size), false);
  }
}

TEST_CASE("other formats: a folder of them is read, and an error names the file",
          "[dataset][host]") {
  const temporary_directory folder;
  std::filesystem::create_directory(folder.path() / "a");
  const pixels image = paint(height, width);
  folder.write("a/1.PPM", pnm_bytes(image));
  folder.write("a/2.bmp", bmp_bytes(image, 24));
  folder.write("a/3.pgm", bytes_of("P5 9 9 255\n"));
  const auto opened = open_image_folder(folder.path(), {.image = as_it_is(height, width)});
  REQUIRE(opened.dataset->size() == 3);
  std::vector<std::uint8_t> out(image.values.size());
  std::int32_t label = 0;
  const std::vector<std::span<std::byte>> rows{std::as_writable_bytes(std::span{out}),
                                               std::as_writable_bytes(std::span{&label, 1})};
  for (const std::uint64_t sample : {0U, 1U}) {
    opened.dataset->read(std::vector<sample_index>{{sample}}, rows);
    CHECK(out == image.values);
  }
  const auto words = message_of<dataset_error>(
      [&] { opened.dataset->read(std::vector<sample_index>{{2}}, rows); });
  CHECK(contains(words, "a/3.pgm"));
  CHECK(contains(words, "the file ends early"));
}

#ifdef FEEDLINE_HAS_TIFF
TEST_CASE("other formats: a TIFF of any usual kind gives its pixels", "[dataset][host]") {
  const image_options whole = as_it_is(height, width);
  const pixels colours = paint(height, width);
  const pixels grey = paint(height, width, 1);
  const pixels with_alpha = paint(height, width, 4);
  for (const int compression :
       {COMPRESSION_NONE, COMPRESSION_LZW, COMPRESSION_ADOBE_DEFLATE, COMPRESSION_PACKBITS})
    for (const int bits : {8, 16}) {
      CAPTURE(compression, bits);
      CHECK(decode(tiff_bytes(colours, {.bits = bits, .compression = compression}), whole) ==
            colours.values);
      CHECK(decode(tiff_bytes(grey, {.bits = bits, .meaning = PHOTOMETRIC_MINISBLACK}), whole) ==
            repeated(grey));
    }
  std::vector<std::uint8_t> inverted = repeated(grey);
  for (std::uint8_t& value : inverted) value = static_cast<std::uint8_t>(255 - value);
  CHECK(decode(tiff_bytes(grey, {.meaning = PHOTOMETRIC_MINISWHITE}), whole) == inverted);
  std::vector<std::uint8_t> without_alpha;
  for (std::size_t i = 0; i < with_alpha.values.size(); ++i)
    if (i % 4 != 3) without_alpha.push_back(with_alpha.values[i]);
  const tiff_style alpha{.extra = EXTRASAMPLE_UNASSALPHA};
  CHECK(decode(tiff_bytes(with_alpha, alpha), whole) == without_alpha);
  const tiff_style tiled_alpha{.extra = EXTRASAMPLE_UNASSALPHA, .is_tiled = true};
  CHECK(contains(refusal(tiff_bytes(with_alpha, tiled_alpha), whole), "alpha in tiles or planes"));
  image_options wide = as_it_is(height, width);
  wide.type = element_type::u16;
  const auto values = decode(tiff_bytes(colours, {.bits = 16}), wide);
  for (std::size_t i = 0; i < values.size(); ++i) CHECK(values[i] == colours.values[i / 2]);
  CHECK(contains(refusal(tiff_bytes(colours, {.bits = 16, .is_tiled = true}), wide),
                 "its 16 bits are in tiles"));
}

TEST_CASE("other formats: a TIFF's orientation is followed if that is asked for",
          "[dataset][host]") {
  const pixels image = paint(height, width);
  for (const tiff_style& style :
       {tiff_style{}, {.is_tiled = true}, {.mode = "w8"}, {.mode = "wb"}}) {
    tiff_style turning = style;
    turning.orientation = 3;
    const byte_vector file = tiff_bytes(image, turning);
    CHECK(decode(file, as_it_is(height, width)) == image.values);
    image_options following = as_it_is(height, width);
    following.follow_orientation = true;
    const auto turned = decode(file, following);
    bool is_same = true;
    for (std::size_t i = 0; i < turned.size(); ++i)
      is_same = is_same && turned[i] == image.values[image.values.size() - 3 - i / 3 * 3 + i % 3];
    CHECK(is_same);
  }
}

TEST_CASE("other formats: any changed byte of a TIFF gives pixels or a refusal",
          "[dataset][host]") {
  byte_vector file = tiff_bytes(paint(height, width), {.compression = COMPRESSION_LZW});
  for (std::size_t i = 0; i < file.size(); ++i) {
    const std::byte before = file[i];
    for (const std::byte other : {std::byte{0}, std::byte{0xff}, before ^ std::byte{4}}) {
      file[i] = other;
      try {
        (void)decode(file, as_it_is(height, width));
      } catch (const dataset_error& error) {
        CHECK(contains(error.what(), undecodable));
      }
    }
    file[i] = before;
  }
}
#endif
