/// Samples that the GPU mixes, against `assemble_on_host`, bit for bit.

#include <feedline/backend/assembly.hpp>

#include "gpu/assembly/assembly_case.hpp"
#include "gpu/assembly/assembly_on_gpu.hpp"
#include "gpu/gpu_stream.hpp"
#include "support/checks/catch.hpp"

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <random>
#include <vector>

using namespace feedline;
using namespace feedline::test;

namespace {

constexpr std::uint64_t always = std::uint64_t{1} << 32;

/// Mixing of the image in the second field, and the label in the first.
pair_mixing mixing_of(const std::vector<case_field>& fields) {
  const field_conversion& image = fields[1].conversion;
  pair_mixing by;
  by.label = 0;
  by.label_type = fields[0].conversion.to;
  by.image = 1;
  by.image_type = image.to;
  by.height = image.to_height;
  by.width = image.to_width;
  by.pixel_elements = image.to_channels_last ? image.channels : 1;
  by.mixed_below = always;
  by.cut_below = always / 2;
  by.inverse_mixup_alpha = 2.5F;
  return by;
}

/// Images that are copied as they are.
case_field copied_images(element_type type, std::uint32_t channels, std::uint32_t height,
                         std::uint32_t width) {
  case_field field;
  field.conversion.from = field.conversion.to = type;
  field.conversion.channels = channels;
  field.conversion.height = field.conversion.to_height = height;
  field.conversion.width = field.conversion.to_width = width;
  field.row_bytes = field.to_row_bytes = std::size_t{channels} * height * width * size_bytes(type);
  return field;
}

}  // namespace

TEST_CASE("assembly: samples are mixed as on the host, bit for bit, of any layout and size",
          "[cuda][gpu]") {
  FEEDLINE_NEEDS_GPU();
  const auto to = GENERATE(from_range(std::begin(all_targets), std::end(all_targets)));
  const auto label = GENERATE(from_range(std::begin(all_targets), std::end(all_targets)));
  const auto seed = GENERATE(range(std::uint64_t{1}, std::uint64_t{17}));
  std::mt19937_64 random{seed};
  const std::vector<case_field> fields{
      one_hot(element_type::i64, label, 1 + static_cast<std::uint32_t>(random() % 300)),
      converted(seed % 2 == 0 ? element_type::u8 : element_type::f32, to, random), copied(5)};
  pair_mixing by = mixing_of(fields);
  if (seed % 4 == 0) by.mixed_below = always / 2;
  if (seed % 4 == 1) by.cut_below = always;
  if (seed % 4 == 2) by.cut_below = 0;
  if (seed % 5 == 0) by.label = pair_mixing::none;
  by.draws = static_cast<mixing_draws>(seed % 3);
  check_on_gpu({.batch_size = 1 + random() % 40,
                .samples = 1 + random() % 100,
                .run_samples = 7,
                .keeps = seed % 3 == 0,
                .mixing = by},
               fields, seed, kept_in::device);
}

TEST_CASE("assembly: whole vectors of images are mixed as on the host, bit for bit",
          "[cuda][gpu]") {
  FEEDLINE_NEEDS_GPU();
  const auto to = GENERATE(from_range(std::begin(all_targets), std::end(all_targets)));
  const bool channels_last = GENERATE(false, true);
  const auto where = GENERATE(kept_in::device, kept_in::host);
  std::mt19937_64 random{3};
  std::vector<case_field> fields{one_hot(element_type::u8, element_type::f32, 1000),
                                 converted(element_type::u8, to, random)};
  field_conversion& image = fields[1].conversion;
  image.channels = 3;
  image.to_channels_last = channels_last;
  image.padding = 0;
  image.random_window = false;
  image.height = image.to_height = 224;
  image.width = image.to_width = 220;
  fields[1].row_bytes = std::size_t{3} * 224 * 220;
  fields[1].to_row_bytes = fields[1].row_bytes * size_bytes(to);
  check_on_gpu({.batch_size = 10, .samples = 25, .run_samples = 4, .mixing = mixing_of(fields)},
               fields, 9, where);
}

TEST_CASE("assembly: rows that are only copied are mixed too, any bits of theirs", "[cuda][gpu]") {
  FEEDLINE_NEEDS_GPU();
  const auto type = GENERATE(from_range(std::begin(all_targets), std::end(all_targets)));
  const bool staged = GENERATE(false, true);
  const auto extent = GENERATE(31U, 32U, 256U);  // rows of 256 x 256 go by the copy engine
  std::vector<case_field> fields{one_hot(element_type::u8, type, 10),
                                 copied_images(type, 1, extent, extent)};
  check_on_gpu({.batch_size = 16,
                .samples = 43,
                .run_samples = 16,
                .from = rows_from::cached,
                .mixing = mixing_of(fields)},
               fields, 5, staged ? kept_in::host : kept_in::device, 0, staged);
  fields.erase(fields.begin());
  pair_mixing alone = mixing_of({fields[0], fields[0]});  // nothing is converted
  alone.image = 0;
  alone.label = pair_mixing::none;
  check_on_gpu({.batch_size = 16, .samples = 43, .run_samples = 16, .mixing = alone}, fields, 6,
               kept_in::device);
}

TEST_CASE("assembly: tens of thousands of draws are those of the host, for any alpha",
          "[cuda][gpu]") {
  FEEDLINE_NEEDS_GPU();
  const float alpha = GENERATE(0.001F, 0.1F, 0.2F, 0.5F, 1.0F, 8.0F, 1000.0F);
  const std::uint64_t cut_below = GENERATE(std::uint64_t{0}, always);
  CAPTURE(alpha, cut_below);
  const std::vector<case_field> fields{one_hot(element_type::u8, element_type::f32, 3),
                                       copied_images(element_type::f32, 1, 9, 8)};
  pair_mixing by = mixing_of(fields);
  by.cut_below = cut_below;
  by.inverse_mixup_alpha = by.inverse_cutmix_alpha = 1.0F / alpha;
  check_on_gpu({.batch_size = 50'000, .samples = 50'000, .run_samples = 50'000, .mixing = by},
               fields, 12, kept_in::device);
}
