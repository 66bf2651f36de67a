/// Images whose elements move, by the GPU's tiles, against `assemble_on_host`, bit for bit.

#include <feedline/backend/assembly.hpp>

#include "gpu/assembly/assembly_case.hpp"
#include "gpu/assembly/assembly_on_gpu.hpp"
#include "gpu/gpu_stream.hpp"
#include "support/checks/catch.hpp"

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

using namespace feedline;
using namespace feedline::test;

namespace {

/// The field whose rows a conversion of images takes and makes.
case_field field_of(const field_conversion& conversion) {
  const auto bytes = [&](std::uint32_t height, std::uint32_t width, element_type type) {
    return std::size_t{conversion.channels} * height * width * size_bytes(type);
  };
  case_field field;
  field.conversion = conversion;
  field.row_bytes = bytes(conversion.height, conversion.width, conversion.from);
  field.to_row_bytes = bytes(conversion.to_height, conversion.to_width, conversion.to);
  return field;
}

struct extents {
  std::uint32_t height;
  std::uint32_t width;
};

/// Wide images, of tiles side by side; or deep ones, of which a pixel takes a tile or more.
field_conversion wide_or_deep(std::mt19937_64& random) {
  const auto between = [&](std::uint32_t least, std::uint32_t most) {
    return least + static_cast<std::uint32_t>(random() % (most - least + 1));
  };
  const bool is_deep = between(0, 7) == 0;
  const auto from = between(0, 1) == 0 ? element_type::u8 : all_types[between(0, 12)];
  field_conversion conversion = converted(from, all_targets[between(0, 2)], random).conversion;
  conversion.channels = between(0, 1) == 0 ? 3 : between(1, 5);
  if (is_deep) conversion.channels = between(300, 7300);
  conversion.per_channel = !is_deep && between(0, 1) == 0;
  conversion.height = between(1, is_deep ? 2 : 5);
  conversion.width = between(1, is_deep ? 3 : 2000);
  conversion.padding = between(0, 1) == 0 ? 0 : between(0, is_deep ? 2 : 40);
  conversion.to_height = between(1, conversion.height + 2 * conversion.padding);
  conversion.to_width = between(1, conversion.width + 2 * conversion.padding);
  if (conversion.to_width > 8 && between(0, 1) == 0)
    conversion.to_width &= between(0, 1) == 0 ? ~7U : ~3U;
  conversion.random_window = true;
  return conversion;
}

}  // namespace

TEST_CASE("assembly: large images are cropped, padded, flipped and changed in layout, bit for bit",
          "[cuda][gpu]") {
  FEEDLINE_NEEDS_GPU();
  field_conversion conversion;
  conversion.what = field_conversion::operation::convert;
  conversion.channels_last = GENERATE(false, true);
  conversion.to_channels_last = GENERATE(false, true);
  conversion.per_channel = true;
  conversion.channels = 3;
  // Lines of eights of pixels, lines of fours in tiles of eights, and tiles of which one is odd.
  const auto [height, width] = GENERATE(extents{224, 224}, extents{196, 196}, extents{197, 196});
  conversion.to_height = height;
  conversion.to_width = width;
  conversion.random_window = true;
  conversion.flip_below = std::uint64_t{1} << 31;
  for (std::uint32_t i = 0; i < 3; ++i) {
    conversion.scale[i] = 0.017F + 0.003F * static_cast<float>(i);
    conversion.offset[i] = -2.1F + 0.2F * static_cast<float>(i);
  }
  const auto field = [&](std::uint32_t extent, std::uint32_t padding, element_type to) {
    conversion.height = conversion.width = extent;
    conversion.padding = padding;
    conversion.to = to;
    return field_of(conversion);
  };
  check_on_gpu({.batch_size = 6, .samples = 9, .run_samples = 4},
               {field(256, 0, element_type::f16), field(224, 4, element_type::bf16),
                field(224, 0, element_type::f32), field(225, 3, element_type::f16)},
               7, kept_in::device);
}

TEST_CASE("assembly: images of any width, channels and padding move as on the host, bit for bit",
          "[cuda][gpu]") {
  FEEDLINE_NEEDS_GPU();
  const auto seed = GENERATE(range(std::uint64_t{1}, std::uint64_t{81}));
  std::mt19937_64 random{seed};
  std::vector<case_field> fields(3);
  for (case_field& field : fields) field = field_of(wide_or_deep(random));
  const std::size_t shift = random() % 2 == 0 ? 0 : random() % 128;
  check_on_gpu({.batch_size = 5, .samples = 12, .run_samples = 3}, fields, seed,
               seed % 8 == 0 ? kept_in::host : kept_in::device, shift);
}

TEST_CASE("assembly: rows that end between vectors are read to their ends, and no further",
          "[cuda][gpu]") {
  FEEDLINE_NEEDS_GPU();
  const std::size_t shift = GENERATE(std::size_t{0}, std::size_t{1}, std::size_t{15});
  const auto from = GENERATE(rows_from::cached, rows_from::copy_destination);
  std::vector<case_field> fields;
  for (const bool to_channels_last : {false, true})
    for (const std::uint32_t width : {1U, 2U, 5U, 8U, 11U, 16U})
      for (const std::uint32_t channels : {1U, 3U}) {
        field_conversion conversion;
        conversion.what = field_conversion::operation::convert;
        conversion.to = element_type::f16;
        conversion.channels = channels;
        conversion.channels_last = true;
        conversion.to_channels_last = to_channels_last;
        conversion.height = conversion.to_height = 3;
        conversion.width = conversion.to_width = width;
        conversion.flip_below = std::uint64_t{1} << 31;
        conversion.scale[0] = 1.0F / 255.0F;
        fields.push_back(field_of(conversion));
      }
  check_on_gpu({.batch_size = 20, .samples = 50, .run_samples = 7, .from = from}, fields, 1,
               kept_in::device, shift);
}
