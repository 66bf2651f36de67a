/// Masks: PNGs whose pixels are classes, not colours.

#include <feedline/dataset/zip.hpp>
#include <feedline/formats/tar.hpp>
#include <feedline/sampler/shuffle.hpp>

#include "image/random_crop.hpp"
#include "support/checks/catch.hpp"
#include "support/checks/contains.hpp"
#include "support/checks/message_of.hpp"
#include "support/files/tar_bytes.hpp"
#include "support/files/temporary_directory.hpp"
#include "support/images/image_bytes.hpp"
#include "unit/image/decoded_images.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

using namespace feedline;
using namespace feedline::test;

namespace {

/// Classes of an image's pixels.
pixels classes_of(std::uint32_t height, std::uint32_t width, std::uint32_t seed = 1) {
  pixels mask = paint(height, width, 1, seed);
  for (std::uint8_t& value : mask.values) value = static_cast<std::uint8_t>(value / 64 * 7);
  return mask;
}

std::vector<std::uint8_t> decoded(std::span<const std::byte> file, const image_options& options,
                                  const sample_context& context = {}) {
  const decoder_ptr decoder = make_mask_decoder(options);
  const field spec = decoder->describe(file);
  CHECK(spec == field{{}, element_type::u8, {options.height, options.width}});
  std::vector<std::uint8_t> out(sample_bytes(spec), 0xCD);
  decoder->decode(file, spec, std::as_writable_bytes(std::span{out}), context);
  return out;
}

std::string refusal(std::span<const std::byte> file, const image_options& options = {}) {
  return message_of<dataset_error>([&] { (void)decoded(file, options); });
}

/// The nearest pixels of a part, in floating-point numbers, as Pillow takes them.
std::vector<std::uint8_t> nearest(const pixels& from, const detail::image_box& part,
                                  std::uint32_t height, std::uint32_t width) {
  std::vector<std::uint8_t> out;
  for (std::uint32_t y = 0; y < height; ++y)
    for (std::uint32_t x = 0; x < width; ++x)
      out.push_back(from.at(
          part.top + static_cast<std::uint32_t>((y + 0.5) * part.extents.height / height),
          part.left + static_cast<std::uint32_t>((x + 0.5) * part.extents.width / width), 0));
  return out;
}

}  // namespace

TEST_CASE("mask: indices of a palette and grey values are those that are stored",
          "[dataset][host]") {
  const pixels mask = classes_of(21, 34);
  for (const bool is_interlaced : {false, true})
    for (const bool has_palette : {false, true})
      for (const int bit_depth : {8, 4, 2, 1}) {
        const byte_vector file = png_bytes(
            mask,
            {.bit_depth = bit_depth, .has_palette = has_palette, .is_interlaced = is_interlaced});
        std::vector<std::uint8_t> wanted;  // the upper bits count
        for (const std::uint8_t value : mask.values)
          wanted.push_back(static_cast<std::uint8_t>(value >> (8 - bit_depth)));
        CAPTURE(is_interlaced, has_palette, bit_depth);
        CHECK((decoded(file, {.height = 21, .width = 34}) == wanted));
      }
}

TEST_CASE("mask: resizing, cutting and windows take the nearest pixel, and blend none",
          "[dataset][host]") {
  const pixels mask = classes_of(61, 85);
  const byte_vector file = png_bytes(mask, {.has_palette = true});
  for (const auto& [height, width] :
       {std::pair{20U, 33U}, std::pair{61U, 85U}, std::pair{200U, 90U}, std::pair{1U, 1U}})
    CHECK((decoded(file, {.height = height, .width = width}) ==
           nearest(mask, {0, 0, {61, 85}}, height, width)));
  // Shorter side 40: 40 x 55 (85 x 40 / 61), and 30 x 32 of it from (5, 12).
  const auto whole = decoded(file, {.height = 40, .width = 55});
  const auto cut = decoded(file, {.height = 30, .width = 32, .shorter_side = 40});
  bool is_same = true;
  for (std::size_t y = 0; y < 30; ++y)
    for (std::size_t x = 0; x < 32; ++x)
      is_same = is_same && cut[y * 32 + x] == whole[(y + 5) * 55 + 12 + x];
  CHECK(is_same);
  const image_options windows{.height = 16, .width = 24, .resized_crop = crop_ranges{}};
  CHECK(make_mask_decoder(windows)->varies_by_epoch());
  for (std::uint64_t epoch = 0; epoch < 20; ++epoch) {
    const sample_context context{.epoch = epoch, .sample = {3}, .position = {}};
    const auto part = detail::random_crop{crop_ranges{}}.draw({61, 85}, context);
    CHECK((decoded(file, windows, context) == nearest(mask, part, 16, 24)));
  }
}

TEST_CASE("mask: files that hold no classes are refused", "[dataset][host]") {
  const std::string begin = "the mask cannot be decoded: ";
  CHECK(refusal(png_bytes(paint(8, 8))) ==
        begin + "it has colours or alpha, not a palette or grey values");
  CHECK(refusal(png_bytes(paint(8, 8, 2))) ==
        begin + "it has colours or alpha, not a palette or grey values");
  CHECK(refusal(png_bytes(paint(8, 8, 1), {.bit_depth = 16})) ==
        begin + "it has 16 bits a pixel, but values of masks have up to 8");
  CHECK(refusal(jpeg_bytes(paint(8, 8, 1))) ==
        begin + "it is a JPEG, which changes values: store masks as PNG, or as .npy");
  CHECK(refusal({}) == begin + "it is empty");
  CHECK(refusal(byte_vector(100)) == begin + "it is not a PNG");
  const byte_vector whole = png_bytes(classes_of(60, 60));
  CHECK(contains(refusal(std::span{whole}.first(whole.size() / 2)), begin + "libpng says: "));
  CHECK(contains(refusal(whole, {.max_pixels = 3599}), "60 x 60 pixels, and more than 3599"));
  CHECK(contains(message_of<usage_error>([] { (void)make_mask_decoder({.height = 0}); }),
                 "image_options::height is 0"));
}

TEST_CASE("mask: a mask has the window of the image beside it, on devices, too", "[loader][host]") {
  const temporary_directory folder;
  tar_bytes shard;
  for (std::uint32_t i = 0; i < images; ++i) {
    // Both are flat: the window's part of the left half is the mean of both, nearly.
    const std::uint32_t width = 40 + i % 7;
    pixels image{30, width, 3, std::vector<std::uint8_t>(std::size_t{90} * width)};
    pixels mask{30, width, 1, std::vector<std::uint8_t>(std::size_t{30} * width)};
    for (std::size_t at = 0; at < mask.values.size(); ++at) {
      const bool is_left = at % width < width / 2;
      mask.values[at] = is_left ? 200 : 0;
      for (std::size_t c = 0; c < 3; ++c) image.values[3 * at + c] = is_left ? 200 : 0;
    }
    shard
        .add(std::to_string(100 + i) + ".jpg",
             jpeg_bytes(image, {.quality = 100, .halves_chroma = false}))
        .add(std::to_string(100 + i) + ".png", png_bytes(mask));
  }
  const image_options options{
      .height = 24, .width = 24, .resized_crop = crop_ranges{.scale = {0.2, 0.6}}};
  const dataset_ptr data = open_tar({folder.write("a.tar", shard.ended())},
                                    {{"image", {"jpg"}, make_image_decoder(options)},
                                     {"mask", {"png"}, make_mask_decoder(options)}});
  const loader_options loading{.batch_size = 8, .readers = 2, .seed = 5};
  check_same(data, shuffle{.seed = 4}, loading, 2);
  {
    const scripted on;
    loader_options asks = loading;
    asks.decode_on = decode_on::device;
    const loader from{data, shuffle{.seed = 4}, on.device, asks};
    CHECK(from.plan().decoded_fields == std::vector<std::string>{"image", "mask"});
    CHECK(contains(to_string(from.plan()), "; the device decodes image, mask, up to "));
    const loader by_readers{data, shuffle{.seed = 4}, on.device, loading};
    CHECK(by_readers.plan().decoded_fields.empty());
  }
  const run seen = deliver(data, decode_on::device, shuffle{.seed = 4}, loading, 2);
  REQUIRE(seen.error == std::nullopt);
  for (std::size_t batch = 0; batch < seen.fields.size(); batch += 2) {
    const std::vector<std::byte>& image = seen.fields[batch];
    const std::vector<std::byte>& mask = seen.fields[batch + 1];
    std::size_t apart = 0;
    for (std::size_t i = 0; i < mask.size(); ++i)
      apart += (std::to_integer<int>(image[3 * i]) > 100) == (mask[i] == std::byte{200}) ? 0 : 1;
    CHECK(apart < mask.size() / 20);  // along the edge in the middle
  }
  CHECK(seen.fields[0] != seen.fields[seen.fields.size() / 2]);
}
