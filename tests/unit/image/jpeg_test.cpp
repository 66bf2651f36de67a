#include <feedline/error.hpp>
#include <feedline/image/decode.hpp>
#include <feedline/ragged/decode.hpp>

#include "support/checks/catch.hpp"
#include "support/checks/log_capture.hpp"
#include "support/checks/message_of.hpp"
#include "support/datasets/dataset_contract.hpp"
#include "support/datasets/ragged_samples.hpp"
#include "support/files/file_bytes.hpp"
#include "support/files/test_data.hpp"
#include "support/images/image_bytes.hpp"
#include "unit/image/decoded_file.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <string>

using namespace feedline;
using test::as_it_is;
using test::byte_vector;
using test::decode;
using test::find_marker;
using test::jpeg_bytes;
using test::paint;
using test::refusal;
using test::undecodable;

TEST_CASE("jpeg: files of any size that follow one another in an array become a field",
          "[dataset][host]") {
  const auto options = image_options{.height = 24, .width = 32};
  std::vector<byte_vector> files;
  for (const std::uint32_t size : {20U, 64U, 33U})
    files.push_back(jpeg_bytes(paint(size, 2 * size)));
  std::vector<std::uint8_t> all;
  std::vector<std::uint64_t> offsets{0};
  for (const byte_vector& file : files) {
    for (const std::byte byte : file) all.push_back(std::to_integer<std::uint8_t>(byte));
    offsets.push_back(all.size());
  }
  const auto dataset = feedline::decode(
      make_ragged_dataset(own("jpeg", std::move(all)), own("offset", std::move(offsets))),
      make_image_decoder(options));
  CHECK(dataset->fields() == std::vector<field>{{"jpeg", element_type::u8, {24, 32, 3}}});
  for (std::size_t i = 0; i < files.size(); ++i)
    CHECK(test::read_sample(*dataset, {i})[0] == test::as_byte_vector(decode(files[i], options)));
}

TEST_CASE("jpeg: pixels are those of a straightforward use of libjpeg", "[dataset][host]") {
  const auto style =
      GENERATE(test::jpeg_style{}, test::jpeg_style{.halves_chroma = false},
               test::jpeg_style{.is_progressive = true}, test::jpeg_style{.quality = 30});
  const auto channels = GENERATE(1U, 3U);
  for (const auto& [height, width] :
       {std::pair{48U, 64U}, std::pair{37U, 51U}, std::pair{1U, 1U}}) {
    const auto file = jpeg_bytes(paint(height, width, channels), style);
    CHECK(decode(file, as_it_is(height, width)) == test::decode_jpeg(file).values);
  }
}

TEST_CASE("jpeg: ink is taken for inverted, with Adobe's marker and without, as Pillow takes it",
          "[dataset][host]") {
  const auto ink = paint(40, 48, 4);
  const auto style =
      GENERATE(test::jpeg_style{.quality = 95}, test::jpeg_style{.has_adobe_marker = false},
               test::jpeg_style{.quality = 95, .is_ycck = true});
  const auto file = jpeg_bytes(ink, style);
  const auto stored = test::decode_jpeg(file);
  REQUIRE(stored.channels == 4);
  std::vector<std::uint8_t> wanted;
  for (std::size_t i = 0; i < stored.values.size(); i += 4)
    for (std::size_t c = 0; c < 3; ++c) {
      const double light = 1.0 * stored.values[i + c] * stored.values[i + 3];
      wanted.push_back(static_cast<std::uint8_t>(std::lround(light / 255)));
    }
  CHECK(decode(file, as_it_is(40, 48)) == wanted);
}

TEST_CASE("jpeg: a foreign file of ink without Adobe's marker gives Pillow's colour",
          "[dataset][host]") {
  const auto path = test::find_test_data("found/cmyk_no_adobe.jpg");
  if (!path) FEEDLINE_SKIP("no foreign files: name their folder's parent in FEEDLINE_TEST_DATA");
  const auto pixels = decode(test::bytes_of_file(*path), as_it_is(8, 8));
  CHECK(std::vector(pixels.begin(), pixels.begin() + 3) ==
        std::vector<std::uint8_t>{216, 172, 119});
}

TEST_CASE("jpeg: one twice as large as wanted is decoded at half its size if options say so",
          "[dataset][host]") {
  const auto file = jpeg_bytes(paint(160, 240));
  const auto reduced_to = [](std::uint32_t height, std::uint32_t width) {
    image_options options = as_it_is(height, width);
    CHECK_FALSE(options.reduced_decoding);  // the default
    options.reduced_decoding = true;
    return options;
  };
  for (const unsigned eighths : {8U, 4U, 2U, 1U}) {
    const auto reduced = test::decode_jpeg(file, eighths);
    CHECK(decode(file, reduced_to(reduced.height, reduced.width)) == reduced.values);
  }
  // A row more than half: the whole is decoded, and resized.
  auto whole_only = reduced_to(81, 120);
  const auto resized = decode(file, whole_only);
  whole_only.reduced_decoding = false;
  CHECK(resized == decode(file, whole_only));
  // Nearest takes pixels as they are stored, none of a reduced image.
  auto nearest = reduced_to(80, 120);
  nearest.interpolation = interpolation::nearest;
  const auto stored = decode(file, as_it_is(160, 240));
  const auto picked = decode(file, nearest);
  bool are_stored = true;
  for (std::size_t i = 0; i < picked.size(); ++i)
    are_stored =
        are_stored &&
        picked[i] == stored[((2 * (i / 360) + 1) * 240 + 2 * (i / 3 % 120) + 1) * 3 + i % 3];
  CHECK(are_stored);
  // And half a size that is asked for without reduced decoding is a resize, whose pixels differ.
  auto half = reduced_to(80, 120);
  const auto reduced = decode(file, half);
  half.reduced_decoding = false;
  const auto plain = decode(file, half);
  CHECK(plain != reduced);
  int worst = 0;
  double sum = 0;
  for (std::size_t i = 0; i < plain.size(); ++i) {
    worst = std::max(worst, std::abs(int{plain[i]} - int{reduced[i]}));
    sum += std::abs(int{plain[i]} - int{reduced[i]});
  }
  CHECK(worst < 80);
  CHECK(sum / static_cast<double>(plain.size()) < 8);
}

TEST_CASE("image: the shorter side is resized and the middle cut out, as torchvision does",
          "[dataset][host]") {
  // 60 x 90, shorter side 40: 40 x 60; 30 x 33 of it from (5, 13.5), the half to the even 14.
  const auto file = jpeg_bytes(paint(60, 90), {.quality = 100, .halves_chroma = false});
  image_options options{.height = 40, .width = 60, .reduced_decoding = false};
  const auto whole = decode(file, options);
  options.shorter_side = 40;
  options.height = 30;
  options.width = 33;
  const auto cut = decode(file, options);
  bool same = true;
  for (std::size_t y = 0; y < 30; ++y)
    for (std::size_t i = 0; i < 33U * 3U; ++i)
      same = same && cut[y * 33 * 3 + i] == whole[((y + 5) * 60 + 14) * 3 + i];
  CHECK(same);
}

TEST_CASE("image: planes are the pixels' channels one after the other", "[dataset][host]") {
  const auto file = jpeg_bytes(paint(24, 31));
  auto options = as_it_is(24, 31);
  const auto by_pixel = decode(file, options);
  options.layout = image_layout::chw;
  CHECK(make_image_decoder(options)->describe({}) == field{{}, element_type::u8, {3, 24, 31}});
  const auto by_plane = decode(file, options);
  bool same = true;
  for (std::size_t i = 0; i < 24U * 31U; ++i)
    for (std::size_t c = 0; c < 3; ++c)
      same = same && by_plane[c * 24 * 31 + i] == by_pixel[3 * i + c];
  CHECK(same);
}

TEST_CASE("jpeg: one cut short anywhere is refused in libjpeg's words, or taken as far as it goes",
          "[dataset][host]") {
  const auto style = GENERATE(test::jpeg_style{}, test::jpeg_style{.is_progressive = true});
  const auto whole = jpeg_bytes(paint(64, 80), style);
  const auto options = as_it_is(64, 80);
  const std::size_t pixels_begin = find_marker(whole, 0xda);
  for (std::size_t size = 0; size < whole.size(); size += size < 700 ? 1 : 97) {
    INFO(size << " of " << whole.size() << " bytes");
    const auto message = refusal(std::span{whole}.first(size), options);
    CHECK(message.substr(0, undecodable.size()) == undecodable);
  }
  CHECK(refusal(std::span{whole}.first(whole.size() - 2), options) ==
        undecodable + "libjpeg says: Premature end of JPEG file");
  CHECK(refusal(std::span{whole}.first(pixels_begin / 2), options) ==
        undecodable + "libjpeg says: Premature end of JPEG file");

  auto lenient = options;
  lenient.allow_damaged = true;
  const auto part = decode(std::span{whole}.first((pixels_begin + whole.size()) / 2), lenient);
  const auto all = decode(whole, options);
  CHECK(part != all);
  if (!style.is_progressive) CHECK(std::equal(all.begin(), all.begin() + 80 * 3, part.begin()));
}

TEST_CASE("jpeg: corrupted data is an error, bytes after the end are not", "[dataset][host]") {
  const auto whole = jpeg_bytes(paint(64, 80));
  const auto options = as_it_is(64, 80);
  auto corrupted = whole;
  const std::size_t middle = (find_marker(whole, 0xda) + whole.size()) / 2;
  corrupted[middle] = std::byte{0xff};
  corrupted[middle + 1] = std::byte{0xc4};  // a marker in the midst of the data
  CHECK(refusal(corrupted, options).substr(0, undecodable.size()) == undecodable);

  auto with_tail = whole;
  with_tail.insert(with_tail.end(), 100, std::byte{0x41});
  CHECK(decode(with_tail, options) == decode(whole, options));
}

TEST_CASE(
    "jpeg: damage that libjpeg sees is an error or a warning, and otherwise the pixels are "
    "libjpeg's",
    "[dataset][host]") {
  const auto whole = jpeg_bytes(paint(96, 128));
  const auto options = as_it_is(96, 128);
  const std::size_t begin = find_marker(whole, 0xda) + 14;  // after the scan's header
  const std::size_t size = whole.size() - 2 - begin;

  auto inverted = whole;
  for (std::size_t i = 0; i < 60; ++i) inverted[begin + size / 3 + i] ^= std::byte{0xff};
  CHECK(refusal(inverted, options).substr(0, undecodable.size()) == undecodable);

  int damaged = 0;
  const test::log_capture captured;
  for (std::size_t i = 0; i < 60; ++i) {
    auto corrupted = whole;
    corrupted[begin + i * size / 60] ^= std::byte(0x10 + i);
    const auto reference = test::decode_jpeg(corrupted);
    INFO("corruption " << i);
    if (reference.warnings == 0) {
      CHECK(decode(corrupted, options) == reference.values);
    } else if (refusal(corrupted, options).starts_with(undecodable)) {
      ++damaged;
    } else {  // so near the end that what is left is not whole MCUs
      CHECK(i > 55);
      CHECK(captured.text().find("extraneous bytes before marker 0xd9") != std::string::npos);
    }
  }
  CHECK(damaged > 10);
}

TEST_CASE("jpeg: damaged images that are accepted are counted and logged", "[dataset][host]") {
  const auto whole = jpeg_bytes(paint(64, 80));
  auto options = as_it_is(64, 80);
  options.allow_damaged = true;
  options.damaged_images = std::make_shared<std::atomic<std::uint64_t>>(0);
  const auto decoder = make_image_decoder(options);
  const field spec = decoder->describe({});
  std::vector<std::uint8_t> out(sample_bytes(spec));
  const auto take = [&](std::span<const std::byte> file) {
    decoder->decode(file, spec, std::as_writable_bytes(std::span{out}), {});
  };
  const test::log_capture captured;
  take(whole);
  CHECK(*options.damaged_images == 0);
  for (int i = 0; i < 12; ++i) take(std::span{whole}.first(whole.size() / 2));
  CHECK(*options.damaged_images == 12);
  const std::string words = "damaged JPEGs taken as libjpeg repairs them: ";
  const std::string last = "; the last: Premature end of JPEG file";
  CHECK(captured.text().find(words + "1" + last) != std::string::npos);
  CHECK(captured.text().find(words + "10" + last) != std::string::npos);
  CHECK(captured.text().find(words + "2" + last) == std::string::npos);
}

TEST_CASE("image: a decoder continues after images that it refused", "[dataset][host]") {
  const auto whole = jpeg_bytes(paint(64, 80));
  const auto decoder = make_image_decoder(as_it_is(64, 80));
  const field spec = decoder->describe({});
  std::vector<std::uint8_t> out(sample_bytes(spec));
  for (int i = 0; i < 3; ++i) {
    CHECK_THROWS_AS(decoder->decode(std::span{whole}.first(whole.size() / 2), spec,
                                    std::as_writable_bytes(std::span{out}), {}),
                    dataset_error);
    decoder->decode(whole, spec, std::as_writable_bytes(std::span{out}), {});
    CHECK(out == test::decode_jpeg(whole).values);
  }
}

TEST_CASE("image: one that claims more pixels than allowed is refused before they are made",
          "[dataset][host]") {
  auto bomb = jpeg_bytes(paint(16, 16));
  const std::size_t frame = find_marker(bomb, 0xc0);
  for (std::size_t i = frame + 5; i < frame + 9; ++i) bomb[i] = std::byte{0xf0};
  CHECK(refusal(bomb, as_it_is(16, 16)) ==
        undecodable +
            "it claims to be 61680 x 61680 pixels, and more than 67108864 are refused; raise "
            "image_options::max_pixels if the size is right");
  auto options = as_it_is(16, 16);
  options.max_pixels = 255;
  CHECK(refusal(jpeg_bytes(paint(16, 16)), options).find("16 x 16 pixels") != std::string::npos);
  options.max_pixels = 256;
  CHECK_NOTHROW(decode(jpeg_bytes(paint(16, 16)), options));
}

TEST_CASE("jpeg: passes over the pixels without end are refused", "[dataset][host]") {
  auto file = jpeg_bytes(paint(16, 16), {.is_progressive = true});
  // The last pass again and again: each says it refines the same bits, which libjpeg warns of, no
  // more.
  std::size_t last = 0;
  for (std::size_t i = 0; i + 1 < file.size(); ++i)
    if (file[i] == std::byte{0xff} && file[i + 1] == std::byte{0xda}) last = i;
  const byte_vector pass{file.begin() + static_cast<std::ptrdiff_t>(last), file.end() - 2};
  file.erase(file.end() - 2, file.end());
  for (int i = 0; i < 600; ++i) file.insert(file.end(), pass.begin(), pass.end());
  file.push_back(std::byte{0xff});
  file.push_back(std::byte{0xd9});
  auto options = as_it_is(16, 16);
  options.allow_damaged = true;
  CHECK(refusal(file, options) == undecodable + "libjpeg says: more than 500 scans");
}

TEST_CASE("image: bytes that are no image are refused by their beginning", "[dataset][host]") {
  const auto options = as_it_is(8, 8);
  CHECK(refusal({}, options) == undecodable + "it is empty");
  const std::string gif = "GIF89a";
  CHECK(refusal(std::as_bytes(std::span{gif}), options) ==
        undecodable +
            "it is no JPEG, PNG, WebP, TIFF, BMP, PPM or PGM: it begins with 47 49 46 38");
  const std::string_view start = "\xff\xd8\xff";
  CHECK(refusal(std::as_bytes(std::span{start}), options) ==
        undecodable + "libjpeg says: Premature end of JPEG file");
}

TEST_CASE("image: options that cannot be are refused", "[dataset][host]") {
  const auto message = [](const image_options& options) {
    return test::message_of<usage_error>([&] { (void)make_image_decoder(options); });
  };
  CHECK(message({.height = 0}) == "image_options::height is 0, but must be 1 to 65535");
  CHECK(message({.width = 70000}) == "image_options::width is 70000, but must be 1 to 65535");
  CHECK(message({.height = 224, .width = 200, .shorter_side = 223}) ==
        "image_options::shorter_side is 223, but must be 224 to 65535");
  CHECK(message({.max_pixels = 0}) == "image_options::max_pixels is 0");
  CHECK(message({.layout = static_cast<image_layout>(2)}) ==
        "image_options::layout is 2, which is not a value of its type: say one of hwc, chw");
  CHECK(message({.interpolation = static_cast<interpolation>(3)}) ==
        "image_options::interpolation is 3, which is not a value of its type: say one of bilinear, "
        "bicubic, nearest");
}
