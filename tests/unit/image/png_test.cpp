#include <feedline/error.hpp>
#include <feedline/image/decode.hpp>

#include "support/checks/catch.hpp"
#include "support/checks/log_capture.hpp"
#include "support/checks/message_of.hpp"
#include "support/images/image_bytes.hpp"

#include <zlib.h>

#include <string>

using namespace feedline;
using test::paint;
using test::png_bytes;

namespace {

constexpr std::uint32_t height = 21;
constexpr std::uint32_t width = 34;

std::vector<std::uint8_t> decode(std::span<const std::byte> file,
                                 const image_options& options = {.height = height,
                                                                 .width = width}) {
  const decoder_ptr decoder = make_image_decoder(options);
  const field spec = decoder->describe(file);
  std::vector<std::uint8_t> out(sample_bytes(spec), 0xcd);
  decoder->decode(file, spec, std::as_writable_bytes(std::span{out}), {});
  return out;
}

std::string refusal(std::span<const std::byte> file) {
  return test::message_of<dataset_error>([&] { (void)decode(file); });
}

/// Expected pixels, computed by hand, because PNG loses nothing.
std::vector<std::uint8_t> rgb_of(const test::pixels& image, const test::png_style& style) {
  const auto bits = static_cast<unsigned>(style.bit_depth);
  std::vector<std::uint8_t> rgb;
  for (std::uint32_t y = 0; y < image.height; ++y)
    for (std::uint32_t x = 0; x < image.width; ++x)
      for (std::uint32_t c = 0; c < 3; ++c) {
        const std::uint8_t value = image.at(y, x, image.channels >= 3 ? c : 0);
        const unsigned kept = bits < 8 ? value >> (8 - bits) : value;
        if (style.has_palette) {
          rgb.push_back(test::palette_colour(kept, c));
        } else {
          rgb.push_back(bits < 8 ? static_cast<std::uint8_t>(kept * 255 / ((1U << bits) - 1))
                                 : value);
        }
      }
  return rgb;
}

const std::string undecodable = "the image cannot be decoded: ";

}  // namespace

TEST_CASE("png: every colour type and depth becomes RGB", "[dataset][host]") {
  struct kind {
    std::uint32_t channels;
    test::png_style style;
  };
  const auto [channels, style] = GENERATE(
      kind{1, {.bit_depth = 1}}, kind{1, {.bit_depth = 2}}, kind{1, {.bit_depth = 4}}, kind{1, {}},
      kind{1, {.bit_depth = 16}}, kind{2, {}}, kind{2, {.bit_depth = 16}}, kind{3, {}},
      kind{3, {.bit_depth = 16}}, kind{4, {}}, kind{4, {.bit_depth = 16}},
      kind{1, {.bit_depth = 1, .has_palette = true}},
      kind{1, {.bit_depth = 4, .has_palette = true}},
      kind{1, {.bit_depth = 8, .has_palette = true}},
      kind{1, {.bit_depth = 8, .has_palette = true, .has_transparent_colour = true}},
      kind{1, {.has_transparent_colour = true}}, kind{3, {.has_transparent_colour = true}});
  for (const bool is_interlaced : {false, true}) {
    auto full = style;
    full.is_interlaced = is_interlaced;
    const auto image = paint(height, width, channels);
    INFO(channels << " channels of " << style.bit_depth << " bits, interlaced " << is_interlaced);
    CHECK(decode(png_bytes(image, full)) == rgb_of(image, full));
  }
}

TEST_CASE("png: comments however long cost nothing", "[dataset][host]") {
  const auto image = paint(height, width);
  CHECK(decode(png_bytes(image, {.text_bytes = std::size_t{9} << 20})) == image.values);
}

TEST_CASE("png: one cut short anywhere is refused", "[dataset][host]") {
  const auto whole = png_bytes(paint(height, width));
  REQUIRE(decode(whole).size() == height * width * 3);
  for (std::size_t size = 0; size < whole.size(); size += 7)
    CHECK(refusal(std::span{whole}.first(size)).substr(0, undecodable.size()) == undecodable);
  CHECK(refusal(std::span{whole}.first(whole.size() - 5)) ==
        undecodable + "libpng says: the file ends early");
  CHECK(refusal(std::span{whole}.first(whole.size() / 2)) ==
        undecodable + "libpng says: the file ends early");
}

TEST_CASE("png: corrupted pixels and headers are refused", "[dataset][host]") {
  const auto whole = png_bytes(paint(height, width));
  auto corrupted = whole;
  corrupted[whole.size() / 2] ^= std::byte{0x10};
  const std::string message = refusal(corrupted);
  CHECK(message.substr(0, undecodable.size()) == undecodable);
  CHECK(message.find("libpng says: ") != std::string::npos);

  auto wrong_header = whole;
  wrong_header[16 + 2] ^= std::byte{1};  // the width; its checksum is not right any more
  CHECK(refusal(wrong_header) == undecodable + "libpng says: IHDR: CRC error");
}

TEST_CASE("png: a claim of many pixels is refused before they are made", "[dataset][host]") {
  auto bomb = png_bytes(paint(height, width));
  for (const std::size_t side : {std::size_t{16}, std::size_t{20}}) {
    bomb[side + 2] = std::byte{0xea};  // 60000
    bomb[side + 3] = std::byte{0x60};
  }
  const auto* header = reinterpret_cast<const Bytef*>(bomb.data()) + 12;
  const auto checksum = static_cast<std::uint32_t>(crc32(0, header, 17));
  for (unsigned i = 0; i < 4; ++i) bomb[29 + i] = static_cast<std::byte>(checksum >> (24 - 8 * i));
  CHECK(refusal(bomb) ==
        undecodable +
            "it claims to be 60000 x 60000 pixels, and more than 67108864 are refused; raise "
            "image_options::max_pixels if the size is right");
}

TEST_CASE("png: a decoder warns once that palettes become colours", "[dataset][host]") {
  const auto grey = paint(height, width, 1);
  const auto with_palette = png_bytes(grey, {.has_palette = true});
  const decoder_ptr decoder = make_image_decoder({.height = height, .width = width});
  const field spec = decoder->describe({});
  std::vector<std::byte> out(sample_bytes(spec));
  const test::log_capture log;
  decoder->decode(png_bytes(grey), spec, out, {});
  CHECK(log.lines() == 0);
  for (int i = 0; i < 3; ++i) decoder->decode(with_palette, spec, out, {});
  CHECK(log.lines() == 1);
  CHECK(log.text().find("images: a PNG of 34 x 21 pixels has a palette, and its colours are read, "
                        "not its indices; if it is a mask of classes, decode it by "
                        "make_mask_decoder. "
                        "This is logged once for all images of one decoder") != std::string::npos);
  (void)decode(with_palette);  // another folder's decoder
  CHECK(log.lines() == 2);
}
