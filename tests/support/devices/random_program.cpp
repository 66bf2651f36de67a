#include "support/devices/random_program.hpp"

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

void choose_image(field_conversion& program, std::mt19937& random) {
  program.channels = between(random, 1, 5);
  program.height = between(random, 1, 24);
  program.width = between(random, 1, 24);
  if (chance(random, 10)) {  // lines of more pixels than are converted at once
    program.height = between(random, 1, 3);
    program.width = between(random, 200, 1500);
  }
  if (chance(random, 10)) {  // more channels than have a scale of their own
    program.channels = between(random, 30, 70);
    program.height = between(random, 1, 8);
    program.width = between(random, 1, 8);
  }
  if (chance(random, 3)) {  // more than are converted at once
    program.channels = between(random, 1000, 2100);
    program.height = between(random, 1, 2);
    program.width = between(random, 1, 2);
  }
  program.channels_last = chance(random, 50);
  program.to_channels_last = chance(random, 50);
  program.per_channel = program.channels <= field_conversion::max_channels && chance(random, 50);
}

void choose_window(field_conversion& program, std::mt19937& random) {
  if (chance(random, 40)) program.flip_below = std::uint64_t{1} << between(random, 31, 32);
  if (!chance(random, 60)) return;
  program.padding = chance(random, 50) ? between(random, 0, 9) : 0;
  const auto window = [&](std::uint32_t extent) {
    const std::uint32_t room = extent + 2 * program.padding;
    return chance(random, 20) ? room : between(random, 1, room);
  };
  program.to_height = window(program.height);
  program.to_width = window(program.width);
  program.random_crop = chance(random, 60);
}

}  // namespace

field_conversion random_program(std::mt19937& random) {
  constexpr std::array to{element_type::f32, element_type::f16, element_type::bf16};
  field_conversion program;
  if (chance(random, 5)) return program;
  program.to = to[between(random, 0, to.size() - 1)];
  if (chance(random, 10)) {
    program.what = field_conversion::operation::one_hot;
    program.from = static_cast<element_type>(between(random, 0, 7));  // the integers
    program.classes = between(random, 1, 300);
    return program;
  }
  program.what = field_conversion::operation::convert;
  program.from = static_cast<element_type>(between(random, 0, 12));
  if (is_whole(program.from) && chance(random, 50)) {  // a cast
    constexpr std::array whole{element_type::u8,  element_type::i8,  element_type::u16,
                               element_type::i16, element_type::u32, element_type::i32,
                               element_type::u64, element_type::i64, element_type::boolean};
    program.to = whole[between(random, 0, whole.size() - 1)];
  }
  if (chance(random, 20)) {
    program.width = program.to_width = between(random, 1, 2500);
  } else {
    choose_image(program, random);
    program.to_height = program.height;
    program.to_width = program.width;
    choose_window(program, random);
  }
  for (std::size_t i = 0; i < (program.per_channel ? program.channels : 1); ++i) {
    program.scale[i] = any_float(random);
    program.offset[i] = any_float(random);
  }
  return program;
}

std::vector<std::byte> random_row(const field_conversion& program, std::mt19937& random) {
  std::vector<std::byte> row(row_bytes_of(program, 77));
  for (std::byte& each : row) each = static_cast<std::byte>(random());
  if (program.what == field_conversion::operation::one_hot && chance(random, 80)) {
    const std::uint64_t number = between(random, 0, program.classes + 1);
    std::memcpy(row.data(), &number, row.size());  // of 1 byte: cut off
  }
  return row;
}

std::size_t row_bytes_of(const field_conversion& program, std::size_t if_copied) {
  if (program.what == field_conversion::operation::copy) return if_copied;
  if (program.what == field_conversion::operation::one_hot) return size_bytes(program.from);
  return std::size_t{program.channels} * program.height * program.width * size_bytes(program.from);
}

std::size_t to_row_bytes_of(const field_conversion& program, std::size_t if_copied) {
  if (program.what == field_conversion::operation::copy) return if_copied;
  const std::size_t elements =
      program.what == field_conversion::operation::one_hot
          ? program.classes
          : std::size_t{program.channels} * program.to_height * program.to_width;
  return elements * size_bytes(program.to);
}

std::string describe(const field_conversion& program) {
  if (program.what == field_conversion::operation::copy) return "copy";
  std::string text =
      std::string{to_string(program.from)} + " to " + std::string{to_string(program.to)};
  if (program.what == field_conversion::operation::one_hot)
    return text + ", one-hot of " + std::to_string(program.classes);
  const auto layout = [&](std::uint32_t height, std::uint32_t width, bool last) {
    return std::to_string(program.channels) + "x" + std::to_string(height) + "x" +
           std::to_string(width) + (last ? " hwc" : " chw");
  };
  return text + ", " + layout(program.height, program.width, program.channels_last) + " to " +
         layout(program.to_height, program.to_width, program.to_channels_last) + ", padding " +
         std::to_string(program.padding) + (program.random_crop ? ", random" : "") +
         ", flip below " + std::to_string(program.flip_below) +
         (program.per_channel ? ", per channel" : ", scale ") +
         (program.per_channel ? "" : std::to_string(program.scale[0]));
}

}  // namespace feedline::test
