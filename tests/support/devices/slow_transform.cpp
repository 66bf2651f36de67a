#include "support/devices/slow_transform.hpp"

#include "device/sample_random_bits.hpp"
#include "support/devices/slow_half.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstring>

namespace feedline::test {
namespace {

using byte_list = std::vector<std::byte>;

template <class T>
T word_at(std::span<const std::byte> row, std::uint64_t place) {
  T word{};
  std::memcpy(&word, row.data() + place * sizeof word, sizeof word);
  return word;
}

/// An element as a binary32; in a double, for what is computed from it.
double element_at(std::span<const std::byte> row, element_type type, std::uint64_t place) {
  switch (type) {
    case element_type::u8:
      return word_at<std::uint8_t>(row, place);
    case element_type::i8:
      return word_at<std::int8_t>(row, place);
    case element_type::u16:
      return word_at<std::uint16_t>(row, place);
    case element_type::i16:
      return word_at<std::int16_t>(row, place);
    case element_type::u32:
      return static_cast<double>(static_cast<float>(word_at<std::uint32_t>(row, place)));
    case element_type::i32:
      return static_cast<double>(static_cast<float>(word_at<std::int32_t>(row, place)));
    case element_type::u64:
      return static_cast<double>(static_cast<float>(word_at<std::uint64_t>(row, place)));
    case element_type::i64:
      return static_cast<double>(static_cast<float>(word_at<std::int64_t>(row, place)));
    case element_type::f16:
      return slow_f16.value(word_at<std::uint16_t>(row, place));
    case element_type::bf16:
      return slow_bf16.value(word_at<std::uint16_t>(row, place));
    case element_type::f32:
      return static_cast<double>(word_at<float>(row, place));
    case element_type::f64:
      return static_cast<double>(static_cast<float>(word_at<double>(row, place)));
    case element_type::boolean:
      return word_at<std::uint8_t>(row, place) != 0 ? 1.0 : 0.0;
  }
  return 0.0;
}

/// A product of two floats is exact in a double, and a sum rounded to it loses nothing that a float
/// would show: so each is rounded once.
float scaled(double value, float scale, float offset) {
  const auto product = static_cast<float>(value * static_cast<double>(scale));
  return static_cast<float>(static_cast<double>(product) + static_cast<double>(offset));
}

void put(byte_list& out, std::uint64_t place, element_type type, float value) {
  if (type == element_type::f32) {
    std::uint32_t word = 0x7FFF'FFFF;
    if (!std::isnan(value)) std::memcpy(&word, &value, sizeof word);
    std::memcpy(out.data() + place * sizeof word, &word, sizeof word);
  } else {
    const slow_half& half = type == element_type::f16 ? slow_f16 : slow_bf16;
    const std::uint16_t word = half.nearest(static_cast<double>(value));
    std::memcpy(out.data() + place * sizeof word, &word, sizeof word);
  }
}

/// A whole number as it is, cut to the bytes of another type.
void put_whole(byte_list& out, std::uint64_t place, element_type type,
               std::span<const std::byte> row, element_type from, std::uint64_t at) {
  const std::size_t from_bytes = size_bytes(from);
  const auto sign = std::to_integer<unsigned>(row[(at + 1) * from_bytes - 1]) >> 7;
  const bool is_signed = from == element_type::i8 || from == element_type::i16 ||
                         from == element_type::i32 || from == element_type::i64;
  std::array<std::byte, 8> wide{};
  wide.fill(is_signed && sign != 0 ? std::byte{0xFF} : std::byte{0});
  std::copy_n(row.begin() + static_cast<std::ptrdiff_t>(at * from_bytes), from_bytes, wide.begin());
  const bool is_true =
      std::any_of(wide.begin(), wide.end(), [](std::byte each) { return each != std::byte{0}; });
  if (from == element_type::boolean || type == element_type::boolean)
    wide = {is_true ? std::byte{1} : std::byte{0}};
  std::copy_n(wide.begin(), size_bytes(type),
              out.begin() + static_cast<std::ptrdiff_t>(place * size_bytes(type)));
}

byte_list converted(const field_conversion& conversion, std::span<const std::byte> row,
                    std::uint32_t random_bits) {
  using detail::choice;
  const std::int64_t channels = conversion.channels;
  const std::int64_t height = conversion.height;
  const std::int64_t width = conversion.width;
  const std::int64_t to_height = conversion.to_height;
  const std::int64_t to_width = conversion.to_width;
  const std::int64_t padding = conversion.padding;

  std::int64_t top = (height + 2 * padding - to_height) / 2;
  std::int64_t left = (width + 2 * padding - to_width) / 2;
  if (conversion.random_window) {
    const auto places = [](std::int64_t slack) { return static_cast<std::uint32_t>(slack + 1); };
    top =
        detail::draw_below(random_bits, choice::crop_top, places(height + 2 * padding - to_height));
    left =
        detail::draw_below(random_bits, choice::crop_left, places(width + 2 * padding - to_width));
  }
  const bool flipped = detail::draw(random_bits, choice::flip) < conversion.flip_below;

  const auto place_in = [channels](bool last, std::int64_t h, std::int64_t w, std::int64_t c,
                                   std::int64_t y, std::int64_t x) {
    return static_cast<std::uint64_t>(last ? (y * w + x) * channels + c : (c * h + y) * w + x);
  };
  byte_list out(static_cast<std::size_t>(channels * to_height * to_width) *
                size_bytes(conversion.to));
  for (std::int64_t c = 0; c < channels; ++c)
    for (std::int64_t y = 0; y < to_height; ++y)
      for (std::int64_t x = 0; x < to_width; ++x) {
        const std::int64_t from_y = top + y - padding;
        const std::int64_t from_x = left + (flipped ? to_width - 1 - x : x) - padding;
        const bool inside = from_y >= 0 && from_y < height && from_x >= 0 && from_x < width;
        const std::uint64_t from =
            inside ? place_in(conversion.channels_last, height, width, c, from_y, from_x) : 0;
        const std::uint64_t to =
            place_in(conversion.to_channels_last, to_height, to_width, c, y, x);
        if (is_whole(conversion.to)) {
          if (inside) put_whole(out, to, conversion.to, row, conversion.from, from);
          continue;
        }
        const double value = inside ? element_at(row, conversion.from, from) : 0.0;
        const auto by = conversion.per_channel ? static_cast<std::size_t>(c) : 0;
        put(out, to, conversion.to, scaled(value, conversion.scale[by], conversion.offset[by]));
      }
  return out;
}

/// The value as a class; an invalid class if it is negative.
std::uint64_t class_in(std::span<const std::byte> row, element_type type) {
  std::uint64_t number = 0;
  std::memcpy(&number, row.data(), size_bytes(type));
  const bool is_signed = type == element_type::i8 || type == element_type::i16 ||
                         type == element_type::i32 || type == element_type::i64;
  const bool is_negative = is_signed && (number >> (8 * size_bytes(type) - 1)) != 0;
  return is_negative ? UINT64_MAX : number;
}

}  // namespace

std::vector<std::byte> slow_transform(const field_conversion& conversion,
                                      std::span<const std::byte> row, std::uint32_t random_bits) {
  if (conversion.what == field_conversion::operation::copy) return {row.begin(), row.end()};
  if (conversion.what == field_conversion::operation::convert)
    return converted(conversion, row, random_bits);
  byte_list out(conversion.classes * size_bytes(conversion.to));
  for (std::uint64_t each = 0; each < conversion.classes; ++each)
    put(out, each, conversion.to, each == class_in(row, conversion.from) ? 1.0F : 0.0F);
  return out;
}

}  // namespace feedline::test
