#include "device/transform_row.hpp"

#include "device/sample_random_bits.hpp"
#include "support/checks/catch.hpp"
#include "support/devices/random_conversion.hpp"
#include "support/devices/slow_transform.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

using namespace feedline;
using namespace feedline::detail;
using feedline::test::random_conversion;
using feedline::test::random_row;

namespace {

using bytes = std::vector<std::byte>;

template <class T>
bytes bytes_of(const std::vector<T>& values) {
  bytes out(values.size() * sizeof(T));
  std::memcpy(out.data(), values.data(), out.size());
  return out;
}

template <class T>
std::vector<T> transformed(const field_conversion& conversion, const bytes& row,
                           std::uint32_t random_bits = 0) {
  std::vector<T> out(test::to_row_bytes_of(conversion, row.size()) / sizeof(T));
  transform_row(conversion, row.data(), row.size(), random_bits,
                reinterpret_cast<std::byte*>(out.data()));
  return out;
}

field_conversion make_conversion(element_type from, element_type to, float scale, float offset) {
  field_conversion conversion;
  conversion.what = field_conversion::operation::convert;
  conversion.from = from;
  conversion.to = to;
  conversion.scale[0] = scale;
  conversion.offset[0] = offset;
  return conversion;
}

field_conversion line(std::uint32_t width, element_type from = element_type::u8, float scale = 1.0F,
                      float offset = 0.0F) {
  field_conversion conversion = make_conversion(from, element_type::f32, scale, offset);
  conversion.width = conversion.to_width = width;
  return conversion;
}

/// An image of one channel, height x width, whose elements count up from 1.
field_conversion counted_image(std::uint32_t height, std::uint32_t width) {
  field_conversion conversion = line(width);
  conversion.height = conversion.to_height = height;
  return conversion;
}
bytes counting(std::uint8_t count) {
  bytes row;
  for (std::uint8_t i = 1; i <= count; ++i) row.push_back(std::byte{i});
  return row;
}

constexpr std::uint64_t always = std::uint64_t{1} << 32;

}  // namespace

TEST_CASE("transform row: any conversion gives the documented result for any row, to the bit",
          "[device][host]") {
  const std::uint32_t seed = GENERATE(1U, 2U, 3U, 4U);
  std::mt19937 random{seed};
  for (int round = 0; round < 500; ++round) {
    const field_conversion conversion = random_conversion(random);
    const bytes row = random_row(conversion, random);
    const auto random_bits = static_cast<std::uint32_t>(random());
    INFO("seed " << seed << ", round " << round << ": " << test::describe(conversion));
    const bytes expected = test::slow_transform(conversion, row, random_bits);

    // Rows lie at any address, and nothing beside the batch's row is touched.
    const std::size_t shift = random() % 9;
    constexpr std::size_t margin = 32;
    constexpr std::byte untouched{0xC3};
    bytes shifted(shift + row.size());
    std::copy(row.begin(), row.end(), shifted.begin() + static_cast<std::ptrdiff_t>(shift));
    bytes out(shift + expected.size() + margin, untouched);
    transform_row(conversion, shifted.data() + shift, row.size(), random_bits, out.data() + shift);

    const auto begin = out.begin() + static_cast<std::ptrdiff_t>(shift);
    const auto end = begin + static_cast<std::ptrdiff_t>(expected.size());
    REQUIRE(std::equal(expected.begin(), expected.end(), begin, end));
    const auto is_untouched = [=](std::byte each) { return each == untouched; };
    REQUIRE(std::all_of(out.begin(), begin, is_untouched));
    REQUIRE(std::all_of(end, out.end(), is_untouched));
  }
}

TEST_CASE("transform row: whole numbers are cast exactly, and wrap around as in NumPy",
          "[device][host]") {
  const auto cast = [](element_type from, element_type to, std::uint32_t width) {
    field_conversion conversion = make_conversion(from, to, 1.0F, 0.0F);
    conversion.width = conversion.to_width = width;
    return conversion;
  };
  using type = element_type;
  const bytes labels{std::byte{0}, std::byte{9}, std::byte{255}};
  CHECK(transformed<std::int64_t>(cast(type::u8, type::i64, 3), labels) ==
        std::vector<std::int64_t>{0, 9, 255});
  CHECK(transformed<std::int64_t>(cast(type::i8, type::i64, 3), labels) ==
        std::vector<std::int64_t>{0, 9, -1});
  CHECK(transformed<std::uint64_t>(cast(type::i8, type::u64, 3), labels) ==
        std::vector<std::uint64_t>{0, 9, std::numeric_limits<std::uint64_t>::max()});
  CHECK(transformed<std::uint8_t>(cast(type::u8, type::boolean, 3), labels) ==
        std::vector<std::uint8_t>{0, 1, 1});
  CHECK(transformed<std::int32_t>(cast(type::boolean, type::i32, 3), labels) ==
        std::vector<std::int32_t>{0, 1, 1});
  const bytes wide = bytes_of<std::int64_t>({(std::int64_t{1} << 53) + 1, -2, 256, 32768});
  CHECK(transformed<std::uint64_t>(cast(type::i64, type::u64, 4), wide)[0] ==
        (std::uint64_t{1} << 53) + 1);  // no float on the way
  CHECK(transformed<std::uint8_t>(cast(type::i64, type::u8, 4), wide) ==
        std::vector<std::uint8_t>{1, 254, 0, 0});
  CHECK(transformed<std::int16_t>(cast(type::i64, type::i16, 4), wide) ==
        std::vector<std::int16_t>{1, -2, 256, -32768});
  CHECK(transformed<std::uint8_t>(cast(type::i64, type::boolean, 4), wide) ==
        std::vector<std::uint8_t>{1, 1, 1, 1});
}

TEST_CASE("transform row: bytes become normalized floats", "[device][host]") {
  const auto out = transformed<float>(line(3, element_type::u8, 1 / 255.0F, -0.5F), counting(3));
  CHECK(out == std::vector{1 / 255.0F - 0.5F, 2 * (1 / 255.0F) - 0.5F, 3 * (1 / 255.0F) - 0.5F});
}

TEST_CASE("transform row: the product is rounded before the sum, not fused with it",
          "[device][host]") {
  // 3 × (1/3 rounded up) is 1 rounded, and a little more than 1 unrounded.
  constexpr float third = 1 / 3.0F;
  REQUIRE(3.0 * double{third} != 1.0);
  for (const std::uint32_t width : {1U, 64U}) {  // a single element, and one in vector code
    const auto out =
        transformed<float>(line(width, element_type::u8, third, -1.0F), bytes(width, std::byte{3}));
    CHECK(out == std::vector<float>(width, 0.0F));
  }
}

TEST_CASE("transform row: integers beyond 24 bits round to nearest even", "[device][host]") {
  const bytes row = bytes_of(std::vector<std::uint64_t>{(1U << 24) + 1, (1U << 24) + 3, UINT64_MAX,
                                                        (1ULL << 63) + (1ULL << 39)});
  const auto out = transformed<float>(line(4, element_type::u64), row);
  CHECK(out == std::vector{16'777'216.0F, 16'777'220.0F, 0x1p64F, 0x1p63F});
}

TEST_CASE("transform row: a boolean is 0 or 1, whatever its byte", "[device][host]") {
  const bytes row{std::byte{0}, std::byte{1}, std::byte{2}, std::byte{255}};
  CHECK(transformed<float>(line(4, element_type::boolean), row) ==
        std::vector{0.0F, 1.0F, 1.0F, 1.0F});
}

TEST_CASE("transform row: every NaN comes out as the one that an NVIDIA device gives",
          "[device][host]") {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  std::vector<std::uint32_t> words{0x7FC0'0000, 0xFFC0'0001, 0x7F80'0001, 0};
  std::memcpy(&words[3], &infinity, sizeof infinity);
  for (const std::uint32_t repeats : {1U, 16U}) {
    std::vector<std::uint32_t> all;
    for (std::uint32_t i = 0; i < repeats; ++i) all.insert(all.end(), words.begin(), words.end());
    // infinity × 0 is the last.
    field_conversion conversion = line(4 * repeats, element_type::f32, 0.0F);
    CHECK(transformed<std::uint32_t>(conversion, bytes_of(all)) ==
          std::vector<std::uint32_t>(4 * repeats, 0x7FFF'FFFF));
    for (const element_type to : {element_type::f16, element_type::bf16}) {
      conversion.to = to;
      CHECK(transformed<std::uint16_t>(conversion, bytes_of(all)) ==
            std::vector<std::uint16_t>(4 * repeats, 0x7FFF));
    }
  }
}

TEST_CASE("transform row: a crop that is not random is the middle, padding all around",
          "[device][host]") {
  field_conversion conversion = counted_image(2, 2);  // 1 2 / 3 4
  conversion.padding = 1;
  conversion.to_height = 4;
  conversion.to_width = 4;
  CHECK(transformed<float>(conversion, counting(4)) ==
        std::vector<float>{0, 0, 0, 0, 0, 1, 2, 0, 0, 3, 4, 0, 0, 0, 0, 0});
  conversion.to_height = 1;  // cuts 1 of 4: one above, two below
  conversion.to_width = 2;
  CHECK(transformed<float>(conversion, counting(4)) == std::vector<float>{1, 2});
}

TEST_CASE("transform row: padding is zeros before scale and offset", "[device][host]") {
  field_conversion conversion = counted_image(1, 1);
  conversion.padding = 1;
  conversion.to_height = conversion.to_width = 3;
  conversion.scale[0] = 10.0F;
  conversion.offset[0] = -7.0F;
  CHECK(transformed<float>(conversion, counting(1)) ==
        std::vector<float>{-7, -7, -7, -7, 3, -7, -7, -7, -7});
}

TEST_CASE("transform row: a random crop lies where the sample's draws say", "[device][host]") {
  field_conversion conversion = counted_image(5, 5);
  conversion.to_height = conversion.to_width = 1;
  conversion.random_window = true;
  for (std::uint32_t random_bits = 0; random_bits < 100; ++random_bits) {
    const auto top = draw_below(random_bits, choice::crop_top, 5);
    const auto left = draw_below(random_bits, choice::crop_left, 5);
    CHECK(transformed<float>(conversion, counting(25), random_bits) ==
          std::vector<float>{static_cast<float>(5 * top + left + 1)});
  }
}

TEST_CASE("transform row: a flip turns the window that was cut, left to right", "[device][host]") {
  field_conversion conversion = counted_image(2, 4);  // 1 2 3 4 / 5 6 7 8
  conversion.to_width = 3;                            // cuts off the right column
  conversion.flip_below = always;
  CHECK(transformed<float>(conversion, counting(8)) == std::vector<float>{3, 2, 1, 7, 6, 5});
}

TEST_CASE("transform row: a sample is flipped if its draw is below the conversion's bound",
          "[device][host]") {
  field_conversion conversion = counted_image(1, 2);
  for (std::uint32_t random_bits = 0; random_bits < 100; ++random_bits) {
    conversion.flip_below = draw(random_bits, choice::flip);
    CHECK(transformed<float>(conversion, counting(2), random_bits) == std::vector<float>{1, 2});
    ++conversion.flip_below;
    CHECK(transformed<float>(conversion, counting(2), random_bits) == std::vector<float>{2, 1});
  }
}

TEST_CASE("transform row: channels move with the layout, each with its own scale",
          "[device][host]") {
  field_conversion conversion = counted_image(1, 2);
  conversion.channels = 3;
  conversion.channels_last = true;  // 1 2 3, 4 5 6
  CHECK(transformed<float>(conversion, counting(6)) == std::vector<float>{1, 4, 2, 5, 3, 6});
  conversion.per_channel = true;
  for (std::size_t c = 0; c < 3; ++c) {
    conversion.scale[c] = std::array{1.0F, 10.0F, 100.0F}[c];
    conversion.offset[c] = std::array{0.5F, 0.0F, -1.0F}[c];
  }
  CHECK(transformed<float>(conversion, counting(6)) ==
        std::vector<float>{1.5, 4.5, 20, 50, 299, 599});
  conversion.to_channels_last = true;
  CHECK(transformed<float>(conversion, counting(6)) ==
        std::vector<float>{1.5, 20, 299, 4.5, 50, 599});
}

TEST_CASE("transform row: an image and its mask are cut and flipped alike", "[device][host]") {
  field_conversion image = counted_image(6, 6);
  image.to_height = image.to_width = 4;
  image.padding = 2;
  image.random_window = true;
  image.flip_below = always / 2;
  field_conversion mask = image;
  mask.from = element_type::i32;
  mask.to = element_type::bf16;
  const bytes row = counting(36);
  std::vector<std::int32_t> wide;
  for (const std::byte each : row) wide.push_back(std::to_integer<std::int32_t>(each));
  for (std::uint32_t random_bits = 0; random_bits < 50; ++random_bits) {
    std::vector<float> widened;
    for (const std::uint16_t half : transformed<std::uint16_t>(mask, bytes_of(wide), random_bits)) {
      const std::uint32_t bits = std::uint32_t{half} << 16;
      std::memcpy(&widened.emplace_back(), &bits, sizeof bits);
    }
    CHECK(transformed<float>(image, row, random_bits) == widened);
  }
}

TEST_CASE("transform row: one-hot is 1 at the class, and all 0 where there is no such class",
          "[device][host]") {
  field_conversion conversion;
  conversion.what = field_conversion::operation::one_hot;
  conversion.from = element_type::i16;
  conversion.to = element_type::f32;
  conversion.classes = 3;
  const auto of = [&](std::int16_t value) {
    return transformed<float>(conversion, bytes_of(std::vector{value}));
  };
  CHECK(of(0) == std::vector<float>{1, 0, 0});
  CHECK(of(2) == std::vector<float>{0, 0, 1});
  CHECK(of(3) == std::vector<float>{0, 0, 0});
  CHECK(of(-1) == std::vector<float>{0, 0, 0});
  CHECK(of(INT16_MIN) == std::vector<float>{0, 0, 0});

  conversion.from = element_type::u64;
  const bytes beyond = bytes_of(std::vector<std::uint64_t>{(1ULL << 32) + 1});
  CHECK(transformed<float>(conversion, beyond) == std::vector<float>{0, 0, 0});
  const bytes one = bytes_of(std::vector<std::uint64_t>{1});
  conversion.to = element_type::f16;
  CHECK(transformed<std::uint16_t>(conversion, one) == std::vector<std::uint16_t>{0, 0x3C00, 0});
  conversion.to = element_type::bf16;
  CHECK(transformed<std::uint16_t>(conversion, one) == std::vector<std::uint16_t>{0, 0x3F80, 0});
}

TEST_CASE("transform row: copied values stay unchanged", "[device][host]") {
  const bytes row = counting(11);
  CHECK(transformed<std::byte>(field_conversion{}, row) == row);
}
