#include "transform/field_conversions.hpp"

#include <feedline/error.hpp>

#include "support/checks/catch.hpp"
#include "support/checks/message_of.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

using namespace feedline;
using feedline::detail::convert_fields;
using feedline::test::message_of;

namespace {

using shape = std::vector<std::uint64_t>;

const std::vector<field> images{{"image", element_type::u8, {32, 30, 3}},
                                {"label", element_type::i64, {}}};

/// The converted field of a field of bytes.
std::pair<field, field_conversion> converted(shape of, const field_transform& transform,
                                             element_type type = element_type::u8) {
  const auto all = convert_fields({{"x", type, std::move(of)}}, {transform});
  return {all.fields.at(0), all.conversions.at(0)};
}

}  // namespace

TEST_CASE("field conversions: without transforms every field is copied", "[transfer][host]") {
  const auto all = convert_fields(images, {});
  CHECK(all.fields == images);
  CHECK_FALSE(all.any);
  CHECK_FALSE(all.random);
  REQUIRE(all.conversions.size() == 2);
  for (const field_conversion& conversion : all.conversions)
    CHECK(conversion.what == field_conversion::operation::copy);
}

TEST_CASE(
    "field conversions: fields that no transform names are copied beside those that are converted",
    "[transfer][host]") {
  const auto all = convert_fields(images, {{.field = "image", .scale = 1 / 255.0}});
  CHECK(all.any);
  CHECK_FALSE(all.random);
  CHECK(all.fields[0] == field{"image", element_type::f32, {32, 30, 3}});
  CHECK(all.fields[1] == images[1]);
  CHECK(all.conversions[0].what == field_conversion::operation::convert);
  CHECK(all.conversions[1].what == field_conversion::operation::copy);
}

TEST_CASE(
    "field conversions: a field without a layout is one line of one channel, of the same shape",
    "[transfer][host]") {
  const auto [becomes, conversion] =
      converted({4, 5, 6, 7}, {.field = "x", .to = element_type::bf16});
  CHECK(becomes == field{"x", element_type::bf16, {4, 5, 6, 7}});
  CHECK(conversion.from == element_type::u8);
  CHECK(conversion.to == element_type::bf16);
  CHECK(conversion.channels == 1);
  CHECK(conversion.height == 1);
  CHECK(conversion.width == 840);
  CHECK(conversion.to_height == 1);
  CHECK(conversion.to_width == 840);
  CHECK(converted({}, {.field = "x"}).second.width == 1);
}

TEST_CASE(
    "field conversions: an image's extents are read by its layout, and its shape follows the "
    "batch's",
    "[transfer][host]") {
  struct expected {
    image_layout from;
    std::optional<image_layout> to;
    shape of, becomes;
  };
  const auto hwc = image_layout::hwc;
  const auto chw = image_layout::chw;
  const std::vector<expected> cases{
      {hwc, {}, {8, 6, 3}, {8, 6, 3}},  {hwc, hwc, {8, 6, 3}, {8, 6, 3}},
      {hwc, chw, {8, 6, 3}, {3, 8, 6}}, {chw, {}, {3, 8, 6}, {3, 8, 6}},
      {chw, chw, {3, 8, 6}, {3, 8, 6}}, {chw, hwc, {3, 8, 6}, {8, 6, 3}},
  };
  for (const auto& [from, to, of, expected_shape] : cases) {
    const auto [becomes, conversion] =
        converted(of, {.field = "x", .layout = from, .to_layout = to});
    CHECK(becomes.shape == expected_shape);
    CHECK(conversion.channels == 3);
    CHECK(conversion.height == 8);
    CHECK(conversion.width == 6);
    CHECK(conversion.channels_last == (from == hwc));
    CHECK(conversion.to_channels_last == (to.value_or(from) == hwc));
  }
}

TEST_CASE("field conversions: an image of two extents has one channel, and keeps two",
          "[transfer][host]") {
  const auto [becomes, conversion] = converted(
      {28, 20}, {.field = "x", .layout = image_layout::hwc, .to_layout = image_layout::chw});
  CHECK(becomes.shape == shape{28, 20});
  CHECK(conversion.channels == 1);
  CHECK(conversion.height == 28);
  CHECK(conversion.width == 20);
}

TEST_CASE("field conversions: a crop is the batch's extents", "[transfer][host]") {
  const field_transform transform{.field = "x",
                                  .layout = image_layout::hwc,
                                  .to_layout = image_layout::chw,
                                  .crop = image_crop{.height = 24, .width = 20, .padding = 4}};
  const auto [becomes, conversion] = converted({28, 22, 3}, transform);
  CHECK(becomes.shape == shape{3, 24, 20});
  CHECK(conversion.height == 28);
  CHECK(conversion.width == 22);
  CHECK(conversion.to_height == 24);
  CHECK(conversion.to_width == 20);
  CHECK(conversion.padding == 4);
  CHECK(conversion.random_window);
}

TEST_CASE("field conversions: mean and stddev become a product and a sum", "[transfer][host]") {
  const auto one =
      converted({4}, {.field = "x", .scale = 1 / 255.0, .mean = {0.5}, .stddev = {0.25}}).second;
  CHECK_FALSE(one.per_channel);
  CHECK(one.scale[0] == static_cast<float>(1 / 255.0 / 0.25));
  CHECK(one.offset[0] == -2.0F);

  const std::vector<double> means{0.1, 0.2, 0.3};
  const auto each =
      converted(
          {8, 8, 3},
          {.field = "x", .scale = 2, .mean = means, .stddev = {0.7}, .layout = image_layout::hwc})
          .second;
  CHECK(each.per_channel);
  for (std::size_t c = 0; c < 3; ++c) {
    CHECK(each.scale[c] == static_cast<float>(2 / 0.7));
    CHECK(each.offset[c] == static_cast<float>(-means[c] / 0.7));
  }

  const auto by_stddev =
      converted({2, 8, 8}, {.field = "x", .stddev = {0.5, 4}, .layout = image_layout::chw}).second;
  CHECK(by_stddev.per_channel);
  CHECK(by_stddev.scale[0] == 2.0F);
  CHECK(by_stddev.scale[1] == 0.25F);
  CHECK(by_stddev.offset[1] == 0.0F);
}

TEST_CASE("field conversions: scale and mean are divided before they are rounded to a float",
          "[transfer][host]") {
  const double scale = 1 / 255.0;
  const double stddev = 0.229;
  const auto conversion = converted({4}, {.field = "x", .scale = scale, .stddev = {stddev}}).second;
  CHECK(conversion.scale[0] == static_cast<float>(scale / stddev));
  CHECK(conversion.scale[0] != static_cast<float>(scale) / static_cast<float>(stddev));
}

TEST_CASE("field conversions: a flip's probability becomes a bound of 32-bit draws",
          "[transfer][host]") {
  const auto bound = [](double flip) {
    return converted({8, 8}, {.field = "x", .layout = image_layout::hwc, .flip = flip})
        .second.flip_below;
  };
  CHECK(bound(0) == 0);
  CHECK(bound(0.5) == 0x8000'0000);
  CHECK(bound(0.1) == 429'496'730);  // rounded from 429,496,729.6
  CHECK(bound(1) == 0x1'0000'0000);
}

TEST_CASE("field conversions: only conversions that draw are random", "[transfer][host]") {
  const auto is_random = [](double flip, std::optional<image_crop> crop) {
    return convert_fields({{"x", element_type::u8, {8, 9}}},
                          {{.field = "x", .layout = image_layout::chw, .flip = flip, .crop = crop}})
        .random;
  };
  CHECK_FALSE(is_random(0, {}));
  CHECK(is_random(0.5, {}));
  CHECK(is_random(0, image_crop{.height = 8, .width = 8}));
  CHECK_FALSE(is_random(0, image_crop{.height = 8, .width = 8, .random = false}));
  // A window that has only one possible position.
  CHECK_FALSE(is_random(0, image_crop{.height = 8, .width = 9}));
  CHECK_FALSE(is_random(0, image_crop{.height = 12, .width = 13, .padding = 2}));
  CHECK(is_random(0, image_crop{.height = 12, .width = 12, .padding = 2}));
}

TEST_CASE("field conversions: one-hot makes a field of classes out of one integer",
          "[transfer][host]") {
  for (const shape& scalar : {shape{}, shape{1}, shape{1, 1}}) {
    const auto [becomes, conversion] = converted(
        scalar, {.field = "x", .to = element_type::f16, .one_hot = 10}, element_type::i64);
    CHECK(becomes == field{"x", element_type::f16, {10}});
    CHECK(conversion.what == field_conversion::operation::one_hot);
    CHECK(conversion.from == element_type::i64);
    CHECK(conversion.to == element_type::f16);
    CHECK(conversion.classes == 10);
  }
}

TEST_CASE("field conversions: a transform of a field that is not there, or has one, is refused",
          "[transfer][host]") {
  CHECK(message_of<usage_error>([] { (void)convert_fields(images, {{.field = "imag"}}); }) ==
        "transform of field 'imag': there is no such field; the dataset has 'image', 'label'");
  CHECK(message_of<usage_error>([] {
          (void)convert_fields(images, {{.field = "image"},
                                        {.field = "label", .one_hot = 10},
                                        {.field = "image", .scale = 2}});
        }) == "transform of field 'image': there are two for this field; say all of it in one");
}
