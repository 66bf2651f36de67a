#include "support/devices/random_conversion.hpp"

#include <array>
#include <cstdint>
#include <cstring>

namespace feedline::test {
namespace {

std::uint32_t between(std::mt19937& random, std::uint32_t least, std::uint32_t most) {
  return least + static_cast<std::uint32_t>(random()) % (most - least + 1);
}
bool chance(std::mt19937& random, std::uint32_t percent) {
  return between(random, 1, 100) <= percent;
}

float any_float(std::mt19937& random) {
  constexpr std::array known{0.0F, -0.0F, 1.0F, -1.0F, 1.0F / 255, 1e-38F, 3e38F, -0.5F};
  if (chance(random, 30)) return known[between(random, 0, known.size() - 1)];
  return std::uniform_real_distribution<float>{-3.0F, 3.0F}(random);
}

void choose_image(field_conversion& conversion, std::mt19937& random) {
  conversion.channels = between(random, 1, 5);
  conversion.height = between(random, 1, 24);
  conversion.width = between(random, 1, 24);
  if (chance(random, 10)) {  // lines of more pixels than are converted at once
    conversion.height = between(random, 1, 3);
    conversion.width = between(random, 200, 1500);
  }
  if (chance(random, 10)) {  // more channels than have a scale of their own
    conversion.channels = between(random, 30, 70);
    conversion.height = between(random, 1, 8);
    conversion.width = between(random, 1, 8);
  }
  if (chance(random, 3)) {  // more than are converted at once
    conversion.channels = between(random, 1000, 2100);
    conversion.height = between(random, 1, 2);
    conversion.width = between(random, 1, 2);
  }
  conversion.channels_last = chance(random, 50);
  conversion.to_channels_last = chance(random, 50);
  conversion.per_channel =
      conversion.channels <= field_conversion::max_channels && chance(random, 50);
}

void choose_window(field_conversion& conversion, std::mt19937& random) {
  if (chance(random, 40)) conversion.flip_below = std::uint64_t{1} << between(random, 31, 32);
  if (!chance(random, 60)) return;
  conversion.padding = chance(random, 50) ? between(random, 0, 9) : 0;
  const auto window = [&](std::uint32_t extent) {
    const std::uint32_t room = extent + 2 * conversion.padding;
    return chance(random, 20) ? room : between(random, 1, room);
  };
  conversion.to_height = window(conversion.height);
  conversion.to_width = window(conversion.width);
  conversion.random_window = chance(random, 60);
}

}  // namespace

field_conversion random_conversion(std::mt19937& random) {
  constexpr std::array to{element_type::f32, element_type::f16, element_type::bf16};
  field_conversion conversion;
  if (chance(random, 5)) return conversion;
  conversion.to = to[between(random, 0, to.size() - 1)];
  if (chance(random, 10)) {
    conversion.what = field_conversion::operation::one_hot;
    conversion.from = static_cast<element_type>(between(random, 0, 7));  // the integers
    conversion.classes = between(random, 1, 300);
    return conversion;
  }
  conversion.what = field_conversion::operation::convert;
  conversion.from = static_cast<element_type>(between(random, 0, 12));
  if (is_whole(conversion.from) && chance(random, 50)) {  // a cast
    constexpr std::array whole{element_type::u8,  element_type::i8,  element_type::u16,
                               element_type::i16, element_type::u32, element_type::i32,
                               element_type::u64, element_type::i64, element_type::boolean};
    conversion.to = whole[between(random, 0, whole.size() - 1)];
  }
  if (chance(random, 20)) {
    conversion.width = conversion.to_width = between(random, 1, 2500);
  } else {
    choose_image(conversion, random);
    conversion.to_height = conversion.height;
    conversion.to_width = conversion.width;
    choose_window(conversion, random);
  }
  for (std::size_t i = 0; i < (conversion.per_channel ? conversion.channels : 1); ++i) {
    conversion.scale[i] = any_float(random);
    conversion.offset[i] = any_float(random);
  }
  return conversion;
}

std::vector<std::byte> random_row(const field_conversion& conversion, std::mt19937& random) {
  std::vector<std::byte> row(row_bytes_of(conversion, 77));
  for (std::byte& each : row) each = static_cast<std::byte>(random());
  if (conversion.what == field_conversion::operation::one_hot && chance(random, 80)) {
    const std::uint64_t number = between(random, 0, conversion.classes + 1);
    std::memcpy(row.data(), &number, row.size());  // cut off to 1 byte
  }
  return row;
}

std::size_t row_bytes_of(const field_conversion& conversion, std::size_t if_copied) {
  if (conversion.what == field_conversion::operation::copy) return if_copied;
  if (conversion.what == field_conversion::operation::one_hot) return size_bytes(conversion.from);
  return std::size_t{conversion.channels} * conversion.height * conversion.width *
         size_bytes(conversion.from);
}

std::size_t to_row_bytes_of(const field_conversion& conversion, std::size_t if_copied) {
  if (conversion.what == field_conversion::operation::copy) return if_copied;
  const std::size_t elements =
      conversion.what == field_conversion::operation::one_hot
          ? conversion.classes
          : std::size_t{conversion.to_channels()} * conversion.to_height * conversion.to_width;
  return elements * size_bytes(conversion.to);
}

std::string describe(const field_conversion& conversion) {
  if (conversion.what == field_conversion::operation::copy) return "copy";
  std::string text =
      std::string{to_string(conversion.from)} + " to " + std::string{to_string(conversion.to)};
  if (conversion.what == field_conversion::operation::one_hot)
    return text + ", one-hot of " + std::to_string(conversion.classes);
  const auto layout = [&](std::uint32_t height, std::uint32_t width, bool last) {
    return std::to_string(conversion.channels) + "x" + std::to_string(height) + "x" +
           std::to_string(width) + (last ? " hwc" : " chw");
  };
  return text + ", " + layout(conversion.height, conversion.width, conversion.channels_last) +
         " to " + layout(conversion.to_height, conversion.to_width, conversion.to_channels_last) +
         ", padding " + std::to_string(conversion.padding) +
         (conversion.random_window ? ", random" : "") + ", flip below " +
         std::to_string(conversion.flip_below) +
         (conversion.per_channel ? ", per channel" : ", scale ") +
         (conversion.per_channel ? "" : std::to_string(conversion.scale[0]));
}

}  // namespace feedline::test
