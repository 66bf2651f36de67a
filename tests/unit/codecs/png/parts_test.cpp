/// The parts of which devices' decoder of PNG is made, against the reader, which is libpng's: the
/// same pixels, and no pixels where libpng finds damage.

#include "image/reader.hpp"
#include "support/checks/catch.hpp"
#include "support/checks/sanitized.hpp"
#include "support/images/drawn_png.hpp"
#include "support/images/image_bytes.hpp"
#include "support/images/png_pixels.hpp"

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

using namespace feedline;
using namespace feedline::test;

namespace {

/// Pixels as readers have them; nothing if they refuse the file.
std::optional<std::vector<std::uint8_t>> by_reader(std::span<const std::byte> file) {
  static const auto told = std::make_shared<std::atomic<bool>>(true);
  static const auto reader = detail::make_png_reader(detail::png_pixels::colors, {}, told);
  detail::pixel_image image;
  try {
    (void)reader->read(
        file, [](detail::image_extents) { return detail::resample_window{}; }, image);
  } catch (const detail::image_error&) {
    return std::nullopt;
  }
  return std::vector<std::uint8_t>(image.data(), image.data() + image.extents().pixels() * 3);
}

std::optional<std::vector<std::uint8_t>> by_parts(std::span<const std::byte> file) {
  const auto image = decode_png_by_parts<32>(file);
  if (!image) return std::nullopt;
  return image->values;
}

bool is_for_devices(const byte_vector& file) {
  detail::png_frame frame;
  return detail::read_png_frame(reinterpret_cast<const std::uint8_t*>(file.data()), file.size(),
                                frame);
}

}  // namespace

TEST_CASE("png parts: files of every kind have libpng's pixels, whatever the warp",
          "[image][host]") {
  std::mt19937 random{53};
  const int count = sanitized ? 60 : 400;
  for (int i = 0; i < count; ++i) {
    const png_parts parts = draw_png(random, i % 8 == 0 ? 300 : 40);
    const byte_vector file = join_png(parts);
    CAPTURE(i, int{parts.colours}, int{parts.depth}, parts.height, parts.width, parts.chunk_bytes);
    const auto wanted = by_reader(file);
    REQUIRE(wanted);
    REQUIRE(is_for_devices(file));
    CHECK((by_parts(file) == wanted));
    const auto alone = decode_png_by_parts<1>(file);
    CHECK((alone && alone->values == *wanted));
    const auto few = decode_png_by_parts<5>(file, true);
    CHECK((few && few->values == *wanted));
  }
}

TEST_CASE("png parts: grey, 16 bits and indices are those that readers have", "[image][host]") {
  std::mt19937 random{54};
  int with_indices = 0;
  for (int i = 0; i < (sanitized ? 60 : 400); ++i) {
    const png_parts parts = draw_png(random, 40);
    const byte_vector file = join_png(parts);
    CAPTURE(i, int{parts.colours}, int{parts.depth}, parts.height, parts.width);
    detail::png_frame frame;
    REQUIRE(detail::read_png_frame(reinterpret_cast<const std::uint8_t*>(file.data()), file.size(),
                                   frame));
    std::vector<detail::png_values> kinds{
        {.is_grey = true}, {.is_wide = true}, {.is_grey = true, .is_wide = true}};
    if (frame.has_indices()) kinds.push_back({.is_grey = true, .is_index = true});
    with_indices += frame.has_indices() ? 1 : 0;
    for (const detail::png_values& wanted : kinds) {
      CAPTURE(wanted.is_grey, wanted.is_wide, wanted.is_index);
      const auto seen = png_values_by_parts<32>(file, wanted);
      REQUIRE(seen);
      CHECK((seen->values == png_values_by_reader(file, wanted)));
    }
  }
  CHECK(with_indices > 10);
}

TEST_CASE("png parts: files that libpng writes have its pixels", "[image][host]") {
  for (const std::uint32_t channels : {1U, 2U, 3U, 4U})
    for (const std::uint32_t side : {1U, 33U, 200U}) {
      const byte_vector file = png_bytes(paint(side, side + 3, channels));
      CHECK((by_parts(file) == by_reader(file)));
      CHECK(is_for_devices(file));
    }
}

TEST_CASE("png parts: files that decoders may understand differently are left to readers",
          "[image][host]") {
  std::mt19937 random{1};
  png_parts plain;
  do plain = draw_png(random, 20);
  while (plain.colours != 2 || plain.depth != 8);
  plain.palette = {};
  plain.has_others = false;
  const auto with = [&](auto change) {
    png_parts parts = plain;
    change(parts);
    return is_for_devices(join_png(parts));
  };
  CHECK(with([](png_parts&) {}));
  CHECK(with([](png_parts& parts) { parts.has_others = true; }));
  CHECK(with([](png_parts& parts) { parts.palette = {1, 2, 3}; }));
  CHECK_FALSE(with([](png_parts& parts) { parts.interlace = 1; }));
  CHECK_FALSE(with([](png_parts& parts) { parts.depth = 4; }));
  CHECK_FALSE(with([](png_parts& parts) { parts.colours = 3; }));  // without a palette
  CHECK_FALSE(with([](png_parts& parts) { parts.colours = 1; }));
  CHECK_FALSE(with([](png_parts& parts) { parts.palette = {1, 2}; }));
  CHECK_FALSE(with([](png_parts& parts) { parts.palette.resize(3 * 257); }));
  CHECK_FALSE(with([](png_parts& parts) { parts.height = 0; }));
  CHECK_FALSE(with([](png_parts& parts) { parts.width = 65'536; }));
  CHECK_FALSE(with([](png_parts& parts) { parts.stream[0] ^= 1; }));
  CHECK_FALSE(with([](png_parts& parts) { parts.stream.resize(5); }));
  CHECK_FALSE(with([](png_parts& parts) {
    parts.chunk_bytes = 1;
    parts.stream.resize(5000);
  }));
  png_parts wide = plain;  // a window that is smaller than its rows
  wide.height = wide.width = 40;
  wide.filtered.assign(40 * 121, 0);
  wide.stream = zlib_stream(wide.filtered, 6, 0, 12);
  CHECK_FALSE(is_for_devices(join_png(wide)));
  CHECK(by_reader(join_png(wide)));

  const byte_vector file = join_png(plain);
  const auto with_chunk = [&](const char* name, std::size_t before_end) {
    byte_vector changed{file.begin(), file.end() - static_cast<std::ptrdiff_t>(before_end)};
    const std::vector<std::uint8_t> data(6);
    add_png_chunk(changed, name, data);
    changed.insert(changed.end(), file.end() - static_cast<std::ptrdiff_t>(before_end), file.end());
    return is_for_devices(changed);
  };
  CHECK(with_chunk("prVt", 12));
  CHECK(with_chunk("ABCD", 0));  // after the end
  CHECK_FALSE(with_chunk("ABCD", 12));
  CHECK_FALSE(with_chunk("PLTE", 12));
  CHECK_FALSE(with_chunk("a1cd", 12));
  CHECK_FALSE(with_chunk("prvt", 12));
}

TEST_CASE("png parts: a file cut anywhere, or with any bit changed, is what libpng makes of it",
          "[image][host]") {
  std::mt19937 random{9};
  const int count = sanitized ? 3 : 30;
  for (int i = 0; i < count; ++i) {
    const byte_vector whole = join_png(draw_png(random, 9));
    CAPTURE(i);
    for (std::size_t size = 0; size < whole.size(); ++size)
      CHECK_FALSE(by_parts(std::span{whole}.first(size)));
    for (std::size_t at = 0; at < whole.size(); ++at) {
      byte_vector changed = whole;
      changed[at] ^= static_cast<std::byte>(1U << random() % 8);
      CAPTURE(at);
      const auto seen = by_parts(changed);
      if (seen || is_for_devices(changed)) CHECK((seen == by_reader(changed)));
    }
  }
}

TEST_CASE("png parts: more data than the rows take is dropped as libpng does, up to a mebibyte",
          "[image][host]") {
  std::mt19937 random{4};
  const png_parts whole = draw_png(random, 30);
  for (const std::size_t surplus : {1U, 300U, 5000U, 100'000U, (1U << 20U), (3U << 20U)})
    for (const bool has_noise : {false, true}) {
      png_parts parts = whole;
      for (std::size_t i = 0; i < surplus; ++i)
        parts.filtered.push_back(static_cast<std::uint8_t>(has_noise ? random() % 9 : 0));
      parts.stream = zlib_stream(parts.filtered);
      if (parts.stream.size() > 4096) continue;  // more than devices take
      const byte_vector file = join_png(parts);
      CAPTURE(surplus, has_noise);
      CHECK(is_for_devices(file));
      CHECK(by_reader(file) == by_parts(join_png(whole)));
      CHECK(by_parts(file).has_value() == (surplus <= 1U << 20U));
      if (surplus <= 1U << 20U) CHECK((by_parts(file) == by_reader(file)));
    }
}

TEST_CASE("png parts: damaged data with right checksums never has pixels that libpng has not",
          "[image][host]") {
  std::mt19937 random{10};
  const int count = sanitized ? 300 : 6000;
  int both = 0;
  int neither = 0;
  int only_reader = 0;
  for (int i = 0; i < count; ++i) {
    png_parts parts = draw_png(random, i % 9 == 0 ? 100 : 12);
    if (i % 3 == 0) {  // a wrong filter, or too few or too many rows
      parts.filtered[random() % parts.filtered.size()] ^=
          static_cast<std::uint8_t>(1U << random() % 8);
      parts.filtered.resize(parts.filtered.size() + random() % 3 - 1);
      parts.stream = zlib_stream(parts.filtered);
    } else {
      for (std::size_t times = 1 + random() % 3; times > 0; --times)
        parts.stream[random() % parts.stream.size()] ^= static_cast<std::uint8_t>(random());
    }
    if (i % 5 == 0) parts.stream.resize(parts.stream.size() - random() % 6);
    if (i % 7 == 0) parts.stream.insert(parts.stream.end(), random() % 9, 0x55);
    const byte_vector file = join_png(parts);
    CAPTURE(i, int{parts.colours}, int{parts.depth}, parts.height, parts.width);
    const auto seen = by_parts(file);
    const auto wanted = by_reader(file);
    if (seen) CHECK((seen == wanted));
    both += seen ? 1 : 0;
    neither += !seen && !wanted ? 1 : 0;
    only_reader += !seen && wanted && is_for_devices(file) ? 1 : 0;
  }
  CHECK(both > count / 20);
  CHECK(neither > count / 2);
  CHECK(only_reader < count / 25);  // data that go wrong after the last pixel
}
