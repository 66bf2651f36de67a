/// Images that the GPU resizes, colours and erases, against `assemble_on_host`, bit for bit.

#include <feedline/backend/assembly.hpp>

#include "gpu/assembly/assembly_case.hpp"
#include "gpu/assembly/assembly_on_gpu.hpp"
#include "gpu/gpu_stream.hpp"
#include "support/checks/catch.hpp"
#include "transform/operations/operations.hpp"

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <random>
#include <vector>

using namespace feedline;
using namespace feedline::test;

namespace {

/// The field whose rows a conversion of images takes and makes.
case_field augmented_field(const field_conversion& conversion) {
  const auto row_bytes = [](std::uint64_t channels, std::uint32_t height, std::uint32_t width,
                            element_type type) {
    return channels * height * width * size_bytes(type);
  };
  case_field field;
  field.conversion = conversion;
  field.row_bytes =
      row_bytes(conversion.channels, conversion.height, conversion.width, conversion.from);
  field.to_row_bytes =
      row_bytes(conversion.to_channels(), conversion.to_height, conversion.to_width, conversion.to);
  return field;
}

void resize_windows(field_conversion& conversion) {
  conversion.resizes = true;
  conversion.random_window = true;
  conversion.area = {0.08, 1.0};
  conversion.log_ratio = {-0.415, 0.415};
  conversion.else_height = conversion.height;
  conversion.else_width = conversion.width;
}

void erase_parts(field_conversion& conversion) {
  detail::random_erasing_operation::parameters by{
      .below = std::uint64_t{1} << 31,
      .area = {0.02, 0.33},
      .log_ratio = {-1.7, 1.7},
      .per_channel = conversion.channels <= detail::random_erasing_operation::max_values};
  for (std::size_t i = 0; i < detail::random_erasing_operation::max_values; ++i)
    by.value[i] = static_cast<float>(i) - 3.5F;
  detail::operations::enable<detail::random_erasing_operation>(conversion.operations, by);
}

/// Draws operations by the seed, and compares two fields of images that have them.
void check_steps(element_type to, std::uint64_t seed) {
  using detail::operations;
  constexpr std::uint64_t half = std::uint64_t{1} << 31;
  std::mt19937_64 random{seed};
  const auto some = [&] { return random() % 3 == 0; };
  const auto either = [&] {
    return random() % 2 == 0 ? feedline::interpolation::nearest : feedline::interpolation::bilinear;
  };
  std::vector<case_field> fields{copied(5)};
  for (const bool resizes : {false, true}) {
    field_conversion conversion = converted(element_type::u8, to, random).conversion;
    conversion.channels = random() % 3 == 0 ? 1 : 3;
    pixel_operations& planned = conversion.operations;
    if (some())
      operations::enable<detail::random_affine_operation>(planned, {.degrees = {-180, 180},
                                                                    .translate_x = 0.2,
                                                                    .translate_y = 0.1,
                                                                    .scale = {0.5, 2},
                                                                    .shear_x = {-30, 30},
                                                                    .shear_y = {-10, 10},
                                                                    .interpolation = either(),
                                                                    .fill = 99});
    if (some())
      operations::enable<detail::random_perspective_operation>(
          planned, {.below = half, .distortion = 0.6, .interpolation = either(), .fill = 50});
    if (seed % 3 == 0)
      operations::enable<detail::trivial_augment_operation>(
          planned, {.bins = 31, .interpolation = either(), .fill = 3});
    if (seed % 3 == 1)
      operations::enable<detail::rand_augment_operation>(
          planned, {.bins = 31, .magnitude = 20, .operations = 3, .interpolation = either()});
    if (seed % 3 == 2)
      operations::enable<detail::auto_augment_operation>(
          planned, {.policy = auto_augment_policy{static_cast<std::uint8_t>(seed / 3 % 3)}});
    if (some())
      operations::enable<detail::color_jitter_operation>(
          planned, {{0.6, 1.4}, {0.5, 1.5}, {0.0, 2.0}, {-0.5, 0.5}});
    if (some()) operations::enable<detail::random_invert_operation>(planned, {half});
    if (some()) operations::enable<detail::random_posterize_operation>(planned, {half, 3});
    if (some()) operations::enable<detail::random_solarize_operation>(planned, {half, 100});
    if (some()) operations::enable<detail::random_autocontrast_operation>(planned, {half});
    if (some()) operations::enable<detail::random_equalize_operation>(planned, {half});
    if (some()) operations::enable<detail::random_sharpness_operation>(planned, {half, 2.5F});
    if (conversion.channels == 3 && some()) {
      operations::enable<detail::random_grayscale_operation>(planned, {2 * half, 1});
      planned.channels = 1;
    }
    if (some())
      operations::enable<detail::random_erasing_operation>(planned, {.below = half,
                                                                     .area = {0.1, 0.3},
                                                                     .log_ratio = {-1, 1},
                                                                     .value = {100, 110, 120},
                                                                     .noise = true,
                                                                     .deviation = {50, 60, 70}});
    if (resizes) {
      conversion.padding = 0;
      conversion.to_height = 1 + static_cast<std::uint32_t>(random() % 150);
      conversion.to_width = 1 + static_cast<std::uint32_t>(random() % 80);
      resize_windows(conversion);
    }
    fields.push_back(augmented_field(conversion));
  }
  check_on_gpu({.batch_size = 20, .samples = 50, .run_samples = 7}, fields, seed,
               seed % 4 == 0 ? kept_in::host : kept_in::device);
}

/// The same for operations that look at pixels far around each.
void check_wide_steps(element_type to, std::uint64_t seed, std::uint64_t samples) {
  using detail::operations;
  constexpr std::uint64_t half = std::uint64_t{1} << 31;
  std::mt19937_64 random{seed};
  const auto some = [&] { return random() % 2 == 0; };
  std::vector<case_field> fields{copied(5)};
  for (const bool resizes : {false, true}) {
    field_conversion conversion = converted(element_type::u8, to, random).conversion;
    conversion.channels = random() % 3 == 0 ? 1 : 3;
    pixel_operations& planned = conversion.operations;
    if (some())
      operations::enable<detail::random_affine_operation>(
          planned, {.degrees = {-180, 180}, .scale = {0.5, 2}, .fill = 99});
    if (seed % 3 != 0)
      operations::enable<detail::augmix_operation>(
          planned, {.severity = 9,
                    .width = 1 + static_cast<std::uint32_t>(random() % 4),
                    .alpha = 0.7F,
                    .all = some(),
                    .interpolation = some() ? feedline::interpolation::nearest
                                            : feedline::interpolation::bilinear});
    if (some())
      operations::enable<detail::color_jitter_operation>(
          planned, {{0.6, 1.4}, {0.5, 1.5}, {0.0, 2.0}, {-0.5, 0.5}});
    if (seed % 3 != 1)
      operations::enable<detail::gaussian_blur_operation>(
          planned, {.below = 2 * half,
                    .radius = static_cast<std::uint32_t>(random() % 17),
                    .sigma = {0.1, 5}});
    if (some()) operations::enable<detail::random_solarize_operation>(planned, {half, 100});
    if (some()) operations::enable<detail::random_equalize_operation>(planned, {half});
    if (seed % 3 == 1 && some())
      operations::enable<detail::random_sharpness_operation>(planned, {half, 2.5F});
    if (some())
      operations::enable<detail::random_erasing_operation>(planned, {.below = half,
                                                                     .area = {0.1, 0.3},
                                                                     .log_ratio = {-1, 1},
                                                                     .value = {100, 110, 120},
                                                                     .noise = true,
                                                                     .deviation = {50, 60, 70}});
    if (resizes) {
      conversion.padding = 0;
      conversion.to_height = 1 + static_cast<std::uint32_t>(random() % 150);
      conversion.to_width = 1 + static_cast<std::uint32_t>(random() % 80);
      resize_windows(conversion);
    }
    fields.push_back(augmented_field(conversion));
  }
  check_on_gpu({.batch_size = samples / 2, .samples = samples, .run_samples = samples / 6 + 1},
               fields, seed, seed % 4 == 0 ? kept_in::host : kept_in::device);
}

}  // namespace

TEST_CASE("assembly: images of every type and size are resized as on the host, bit for bit",
          "[cuda][gpu]") {
  FEEDLINE_NEEDS_GPU();
  const auto from = GENERATE(from_range(std::begin(all_types), std::end(all_types)));
  const auto seed = GENERATE(range(std::uint64_t{1}, std::uint64_t{9}));
  const auto where = seed % 4 == 0 ? kept_in::host : kept_in::device;
  std::mt19937_64 random{seed};
  std::vector<case_field> fields{copied(5)};
  for (const element_type to : all_targets) {
    field_conversion conversion = converted(from, to, random).conversion;
    conversion.padding = 0;
    conversion.to_height = 1 + static_cast<std::uint32_t>(random() % 40);
    conversion.to_width = 1 + static_cast<std::uint32_t>(random() % 40);
    resize_windows(conversion);
    conversion.random_window = random() % 3 != 0;
    fields.push_back(augmented_field(conversion));
  }
  const std::size_t shift = seed % 2 == 0 ? 0 : random() % 128;
  check_on_gpu({.batch_size = 20, .samples = 50, .run_samples = 7}, fields, seed, where, shift);
}

TEST_CASE("assembly: large windows are resized, flipped and changed in layout, bit for bit",
          "[cuda][gpu]") {
  FEEDLINE_NEEDS_GPU();
  field_conversion conversion;
  conversion.what = field_conversion::operation::convert;
  conversion.to = element_type::f16;
  conversion.channels = 3;
  conversion.channels_last = true;
  conversion.to_channels_last = GENERATE(false, true);
  conversion.height = 375;
  conversion.width = 500;
  conversion.to_height = conversion.to_width = 224;
  conversion.flip_below = std::uint64_t{1} << 31;
  conversion.scale[0] = 1.0F / 255.0F;
  conversion.offset[0] = -0.5F;
  resize_windows(conversion);
  check_on_gpu({.batch_size = 6, .samples = 9, .run_samples = 4}, {augmented_field(conversion)}, 3,
               kept_in::device);
}

TEST_CASE("assembly: images are resized to tiles of any height of their source, bit for bit",
          "[cuda][gpu]") {
  FEEDLINE_NEEDS_GPU();
  struct heights {
    std::uint32_t from;
    std::uint32_t to;
  };
  // A block has room for 76 lines: whole tiles, some rows, one row, less than one.
  const auto [from, to] = GENERATE(heights{70, 150}, heights{200, 90}, heights{380, 11},
                                   heights{300, 3}, heights{76, 1}, heights{77, 1});
  const bool is_drawn = GENERATE(false, true);
  std::vector<case_field> fields;
  for (const element_type type : {element_type::u8, element_type::u16, element_type::f32}) {
    field_conversion conversion;
    conversion.what = field_conversion::operation::convert;
    conversion.from = type;
    conversion.to = element_type::f32;
    conversion.channels = type == element_type::u16 ? 4 : 3;
    conversion.channels_last = conversion.to_channels_last = true;
    conversion.height = from;
    conversion.width = 40;
    conversion.to_height = to;
    conversion.to_width = 70;
    conversion.scale[0] = 1.0F;
    conversion.flip_below = std::uint64_t{1} << 31;
    resize_windows(conversion);
    conversion.random_window = is_drawn;
    fields.push_back(augmented_field(conversion));
  }
  check_on_gpu({.batch_size = 6, .samples = 9, .run_samples = 4}, fields, 5, kept_in::device);
}

TEST_CASE("assembly: colours change and parts are erased as on the host, bit for bit",
          "[cuda][gpu]") {
  FEEDLINE_NEEDS_GPU();
  const auto to = GENERATE(from_range(std::begin(all_targets), std::end(all_targets)));
  const auto seed = GENERATE(range(std::uint64_t{1}, std::uint64_t{17}));
  std::mt19937_64 random{seed};
  std::vector<case_field> fields{copied(5)};
  for (const bool resizes : {false, true}) {
    field_conversion conversion = converted(element_type::u8, to, random).conversion;
    conversion.channels = random() % 2 == 0 ? 1 : 3;
    detail::color_jitter_operation::parameters by;
    if (random() % 2 == 0) by.brightness = {0.6, 1.4};
    if (random() % 2 == 0) by.contrast = {0.6, 1.4};
    if (random() % 2 == 0) by.saturation = {0.0, 2.0};
    if (random() % 2 == 0) by.hue = {-0.5, 0.5};
    detail::operations::enable<detail::color_jitter_operation>(conversion.operations, by);
    if (random() % 2 == 0) erase_parts(conversion);
    if (resizes) {
      conversion.padding = 0;
      conversion.to_height = 1 + static_cast<std::uint32_t>(random() % 80);
      conversion.to_width = 1 + static_cast<std::uint32_t>(random() % 80);
      resize_windows(conversion);
    }
    fields.push_back(augmented_field(conversion));
  }
  field_conversion erased = converted(element_type::f32, to, random).conversion;
  erase_parts(erased);
  fields.push_back(augmented_field(erased));
  check_on_gpu({.batch_size = 20, .samples = 50, .run_samples = 7}, fields, seed,
               seed % 4 == 0 ? kept_in::host : kept_in::device);
}

TEST_CASE("assembly: operations of steps give what they give on the host, bit for bit",
          "[cuda][gpu][long]") {
  FEEDLINE_NEEDS_GPU();
  const auto to = GENERATE(from_range(std::begin(all_targets), std::end(all_targets)));
  const auto seed = GENERATE(range(std::uint64_t{1}, std::uint64_t{25}));
  check_steps(to, seed);
}

TEST_CASE("assembly: each set of operations gives what it gives on the host", "[cuda][gpu]") {
  FEEDLINE_NEEDS_GPU();
  const auto seed = GENERATE(range(std::uint64_t{1}, std::uint64_t{6}));
  check_steps(element_type::f16, seed);
}

TEST_CASE("assembly: wide steps give what they give on the host, bit for bit",
          "[cuda][gpu][long]") {
  FEEDLINE_NEEDS_GPU();
  const auto to = GENERATE(from_range(std::begin(all_targets), std::end(all_targets)));
  const auto seed = GENERATE(range(std::uint64_t{1}, std::uint64_t{13}));
  check_wide_steps(to, seed, 40);
}

TEST_CASE("assembly: wide steps of a few images", "[cuda][gpu]") {
  FEEDLINE_NEEDS_GPU();
  const auto seed = GENERATE(range(std::uint64_t{1}, std::uint64_t{4}));
  check_wide_steps(element_type::f16, seed, 8);
}

TEST_CASE("assembly: images that are resized go beside others, more than a launch takes",
          "[cuda][gpu]") {
  FEEDLINE_NEEDS_GPU();
  std::mt19937_64 random{4};
  std::vector<case_field> fields;
  for (std::size_t i = 0; i < 21; ++i) {
    case_field field = converted(element_type::u8, element_type::f32, random);
    if (i % 2 == 0) {
      field.conversion.padding = 0;
      resize_windows(field.conversion);
    }
    fields.push_back(augmented_field(field.conversion));
  }
  check_on_gpu({.batch_size = 32, .samples = 70, .run_samples = 32, .keeps = true}, fields, 5,
               kept_in::device);
}
