#include "transform/operations/augment_sets.hpp"

#include <feedline/error.hpp>

#include "support/checks/catch.hpp"
#include "transform/field_conversions.hpp"
#include "transform/operations/operations.hpp"
#include "unit/transform/transformed.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

using namespace feedline;
using namespace feedline::detail;
using namespace feedline::test;

TEST_CASE("augment sets: trivial_augment_wide draws operation, bin and sign evenly",
          "[transfer][host]") {
  const trivial_augment_operation::parameters by{.bins = 31};
  std::array<int, set_operations> operations{};
  std::map<float, int> angles;
  for (std::uint32_t i = 0; i < many; ++i) {
    const drawn_of_set of = trivial_augment_operation::draw(by, bits_of(i));
    ++operations[static_cast<std::size_t>(of.operation)];
    if (of.operation == set_operation::rotate) ++angles[of.magnitude];
  }
  for (const int count : operations) CHECK(is_share(count, many, 1.0 / set_operations));
  const int rotated = operations[static_cast<std::size_t>(set_operation::rotate)];
  REQUIRE(angles.size() == 61);  // 0 has no sign
  for (const auto& [angle, count] : angles) {
    CHECK(is_share(count, rotated, angle == 0 ? 1.0 / 31 : 1.0 / 62));
    CHECK(std::abs(angle / 4.5F - std::round(angle / 4.5F)) < 1e-5F);
  }
  CHECK(angles.rbegin()->first == 135.0F);
}

TEST_CASE("augment sets: rand_augment draws its operations evenly and independently",
          "[transfer][host]") {
  const rand_augment_operation::parameters by{.bins = 31, .magnitude = 9, .operations = 2};
  std::array<std::array<int, set_operations>, set_operations> pairs{};
  int negative = 0;
  int turned = 0;
  for (std::uint32_t i = 0; i < many; ++i) {
    const auto first = rand_augment_operation::draw(by, {224, 200}, bits_of(i), 0);
    const auto second = rand_augment_operation::draw(by, {224, 200}, bits_of(i), 1);
    ++pairs[static_cast<std::size_t>(first.operation)][static_cast<std::size_t>(second.operation)];
    if (second.operation != set_operation::rotate) continue;
    ++turned;
    negative += second.magnitude < 0 ? 1 : 0;
    REQUIRE(std::abs(second.magnitude) == Approx(9.0));
  }
  for (const auto& each : pairs)
    for (const int count : each)
      CHECK(is_share(count, many, 1.0 / set_operations / set_operations));
  CHECK(is_share(negative, turned, 0.5));
}

TEST_CASE("augment sets: auto_augment draws its pairs evenly, each with its probabilities",
          "[transfer][host]") {
  const auto_augment_operation::parameters by{.policy = auto_augment_policy::imagenet};
  std::map<step_kind, int> counts;
  int moved = 0;
  for (std::uint32_t i = 0; i < many; ++i) {
    sample_steps steps;  // NOLINT: its tables are not used
    steps.clear();
    auto_augment_operation::add_steps(by, {224, 200}, bits_of(i), steps);
    for (std::uint32_t step = 1; step < steps.colors.count; ++step)
      ++counts[steps.colors.at[step].kind];
    moved += steps.map.any ? 1 : 0;
  }
  // Sums of the probabilities in the policy's list.
  CHECK(is_share(counts[step_kind::sharpness], many, 0.4 / 25));
  CHECK(is_share(counts[step_kind::invert], many, (0.6 + 0.6 + 0.6) / 25));
  CHECK(is_share(counts[step_kind::contrast], many, 2.0 / 25));
  CHECK(is_share(counts[step_kind::autocontrast], many, 1.2 / 25));
  CHECK(is_share(moved, many, (0.6 + 0.8 + 0.2 + 0.8 + 0.4 + 0.8 + 0.6) / 25));
}

TEST_CASE("augment sets: magnitudes are torchvision's", "[transfer][host]") {
  const set_magnitudes wide{0.99F, 32.0F, 32.0F, 135.0F, 0.99F, 6.0F, 31};
  const auto of = [&](set_operation operation, std::uint32_t bin) {
    return of_set(operation, wide, bin, false).magnitude;
  };
  CHECK(of(set_operation::shear_x, 30) == 0.99F);
  CHECK(of(set_operation::translate_x, 15) == 15.999999046325684F);  // torch.linspace's
  CHECK(of(set_operation::translate_y, 16) == 17.066665649414062F);
  CHECK(of_set(set_operation::color, wide, 30, true).magnitude == -0.99F);
  std::vector<float> bits;
  for (std::uint32_t bin = 0; bin < 31; ++bin) bits.push_back(of(set_operation::posterize, bin));
  CHECK(bits == std::vector<float>{8, 8, 8, 7, 7, 7, 7, 7, 6, 6, 6, 6, 6, 5, 5, 5,
                                   5, 5, 4, 4, 4, 4, 4, 3, 3, 3, 3, 3, 2, 2, 2});
  CHECK(of(set_operation::solarize, 0) == 1.0F);
  CHECK(of(set_operation::solarize, 30) == 0.0F);
  const rand_augment_operation::parameters by{.bins = 31, .magnitude = 30, .operations = 1};
  for (std::uint32_t i = 0; i < 1000; ++i) {
    const auto drawn = rand_augment_operation::draw(by, {331, 662}, i, 0);
    if (drawn.operation == set_operation::translate_x)
      CHECK(std::abs(drawn.magnitude) == Approx(300));
    if (drawn.operation == set_operation::posterize) CHECK(drawn.magnitude == 4);
  }
}

TEST_CASE("augment sets: an affine transform draws evenly from its ranges", "[transfer][host]") {
  const random_affine_operation::parameters by{
      .degrees = {-30, 90}, .translate_x = 0.1, .translate_y = 0.2, .scale = {1, 1}};
  std::map<int, int> columns;
  std::map<int, int> lines;
  std::array<int, 12> tens{};
  for (std::uint32_t i = 0; i < many; ++i) {
    sample_steps steps{};
    random_affine_operation::add_steps(by, {50, 40}, bits_of(i), steps);
    const pixel_map& map = steps.map;
    const double angle = std::atan2(-map.y_of_x, map.x_of_x) * 180 / 3.14159265358979;
    ++tens[static_cast<std::size_t>(std::clamp((angle + 30) / 10, 0.0, 11.0))];
    // The matrix gives where a pixel comes from; back from it to how far the image moved.
    const double cosine = map.x_of_x;
    const double sine = map.x_of_y;
    ++columns[static_cast<int>(std::lround(-(map.x * cosine - map.y * sine)))];
    ++lines[static_cast<int>(std::lround(-(map.x * sine + map.y * cosine)))];
  }
  for (const int count : tens) CHECK(is_share(count, many, 1.0 / 12));
  REQUIRE(columns.size() == 9);  // -4 to 4; the ends are half as frequent
  for (const auto& [x, count] : columns)
    CHECK(is_share(count, many, std::abs(x) == 4 ? 1.0 / 16 : 1.0 / 8));
  REQUIRE(lines.size() == 21);
  for (const auto& [y, count] : lines)
    CHECK(is_share(count, many, std::abs(y) == 10 ? 1.0 / 40 : 1.0 / 20));
}

TEST_CASE("augment sets: several moves are one resampling", "[transfer][host]") {
  sample_steps steps{};
  for (const auto operation : {set_operation::rotate, set_operation::rotate})
    add_of_set({operation, 45.0F}, {21, 21}, feedline::interpolation::nearest, 0.0F, steps);
  const auto base = [](std::uint32_t y, std::uint32_t x) {
    return color{{static_cast<float>(y * 21 + x), 0, 0}};
  };
  for (std::uint32_t y = 0; y < 21; ++y)
    for (std::uint32_t x = 0; x < 21; ++x) {
      std::uint32_t channels = 1;
      // Twice 45 degrees is 90: each pixel keeps its value.
      CHECK(sample_point(steps, base, {21, 21}, 0, y, x, channels).of[0] ==
            static_cast<float>(x * 21 + 20 - y));
    }
}

TEST_CASE("augment sets: texts name them, and what they cannot do is refused", "[transfer][host]") {
  field_transform transform{.field = "x", .layout = image_layout::hwc};
  const std::string of_x = "transform of field 'x': ";
  transform.trivial_augment_wide = trivial_augment_wide{};
  CHECK(to_string(transform) == "x: float32, layout hwc, trivial_augment_wide bins 31");
  const auto converted = convert_fields({{"x", element_type::u8, {8, 6, 3}}}, {transform});
  CHECK(converted.conversions[0].operations.needs_image);
  CHECK(converted.random);
  transform.rand_augment = rand_augment{};
  CHECK(refusal(transform) ==
        of_x + "trivial_augment_wide and rand_augment are set: each is a whole set; set one");
  transform.auto_augment = feedline::auto_augment{.policy = auto_augment_policy::svhn};
  transform.trivial_augment_wide = {};
  transform.rand_augment = feedline::rand_augment{};
  CHECK(refusal(transform) ==
        of_x + "rand_augment and auto_augment are set: each is a whole set; set one");
  transform.rand_augment = {};
  CHECK(to_string(transform) == "x: float32, layout hwc, auto_augment svhn");
  transform.auto_augment = {};
  transform.trivial_augment_wide = trivial_augment_wide{.num_magnitude_bins = 1};
  transform.rand_augment = {};
  CHECK(refusal(transform) == of_x + "trivial_augment_wide.num_magnitude_bins is 1: say 2 to 1000");
  transform.trivial_augment_wide = {};
  transform.rand_augment = rand_augment{.num_ops = 0};
  CHECK(refusal(transform) == of_x + "rand_augment.num_ops is 0: say 1 to 3");
  transform.rand_augment = rand_augment{.magnitude = 31};
  CHECK(refusal(transform) == of_x + "rand_augment.magnitude is 31: say 0 to 30");
  transform.rand_augment =
      rand_augment{.num_ops = 3, .interpolation = feedline::interpolation::bilinear, .fill = 9};
  CHECK(to_string(transform) ==
        "x: float32, layout hwc, rand_augment num_ops 3 magnitude 9 bins 31 bilinear fill 9");
  transform.rand_augment->fill = 256;
  CHECK(refusal(transform) == of_x + "rand_augment.fill is 256: say 0 to 255");
}
