#include <feedline/error.hpp>

#include "support/checks/catch.hpp"
#include "support/checks/message_of.hpp"
#include "transform/field_conversions.hpp"
#include "transform/operations/operations.hpp"

#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

using namespace feedline;
using feedline::test::message_of;

namespace {

using shape = std::vector<std::uint64_t>;

/// Message for a transform of field 'x', without the words that all messages begin with.
std::string refusal(const field_transform& transform, shape of = {8, 6, 3},
                    element_type type = element_type::u8) {
  const std::string begin = "transform of field 'x': ";
  const std::string message = message_of<usage_error>([&] {
    (void)detail::convert_fields({{"x", type, std::move(of)}}, {transform});
  });
  return message.rfind(begin, 0) == 0 ? message.substr(begin.size()) : message;
}

const std::string accepted = "[nothing was thrown]";

field_transform resize_to(std::uint64_t height, std::uint64_t width) {
  return {.field = "x", .layout = image_layout::hwc, .resize = image_resize{height, width}};
}

field_transform crop_of(value_range scale, value_range ratio) {
  return {
      .field = "x",
      .layout = image_layout::hwc,
      .resized_crop = random_resized_crop{.height = 4, .width = 4, .scale = scale, .ratio = ratio}};
}

}  // namespace

TEST_CASE("augmentation: a resize gives the batch's extents, and draws only where it crops",
          "[transfer][host]") {
  const std::vector<field> images{{"x", element_type::u8, {100, 80, 3}}};
  field_transform transform{.field = "x",
                            .layout = image_layout::hwc,
                            .to_layout = image_layout::chw,
                            .resize = image_resize{.height = 24, .width = 20}};
  auto converted = detail::convert_fields(images, {transform});
  CHECK(converted.fields[0] == field{"x", element_type::f32, {3, 24, 20}});
  CHECK(converted.conversions[0].height == 100);
  CHECK(converted.conversions[0].resizes);
  CHECK_FALSE(converted.random);

  transform.resize = {};
  transform.resized_crop = random_resized_crop{.height = 24, .width = 20};
  converted = detail::convert_fields(images, {transform});
  CHECK(converted.fields[0].shape == shape{3, 24, 20});
  CHECK(converted.random);
  const field_conversion& drawn = converted.conversions[0];
  CHECK(drawn.resizes);
  CHECK(drawn.random_window);
  CHECK(drawn.area.low == 0.08);
  CHECK(drawn.area.high == 1.0);
  CHECK(drawn.log_ratio.low == Approx(-0.4150375F));
  CHECK(drawn.log_ratio.high == Approx(0.4150375F));
}

TEST_CASE("augmentation: a crop falls back to the largest central part that its ratios allow",
          "[transfer][host]") {
  const auto extents = [](std::uint64_t height, std::uint64_t width) {
    const field_transform transform = crop_of({0.1, 1}, {0.5, 2});
    const auto to = detail::convert_fields({{"x", element_type::u8, {height, width}}}, {transform})
                        .conversions[0];
    return std::pair{to.else_height, to.else_width};
  };
  using pair = std::pair<std::uint32_t, std::uint32_t>;
  CHECK(extents(90, 100) == pair{90, 100});
  CHECK(extents(30, 100) == pair{30, 60});
  CHECK(extents(100, 30) == pair{60, 30});
  CHECK(extents(100, 1) == pair{2, 1});
}

TEST_CASE("augmentation: possible settings are accepted", "[transfer][host]") {
  CHECK(refusal(resize_to(1, 65535)) == accepted);
  CHECK(refusal(resize_to(224, 224), {8, 6}, element_type::f64) == accepted);
  CHECK(refusal(crop_of({0.08, 1}, {0.75, 4.0 / 3})) == accepted);
  CHECK(refusal(crop_of({1, 1}, {1, 1})) == accepted);
}

TEST_CASE("augmentation: extents are 1 to 65535 and an image's elements are counted in 32 bits",
          "[transfer][host]") {
  CHECK(refusal(resize_to(0, 4)) == "resize.height is 0: say 1 to 65535");
  CHECK(refusal(resize_to(4, 65536)) == "resize.width is 65536: say 1 to 65535");
  CHECK(refusal(resize_to(65535, 65535)) ==
        "resize is of 65535 x 65535: with all channels an image has at most 4294967295 elements");
  CHECK(refusal(resize_to(4, 4), {65536, 6}) ==
        "resize is set and the field is x: uint8[65536, 6]: images of 1 to 65535 pixels a side "
        "can be resized");
  field_transform crop = crop_of({0.1, 1}, {1, 1});
  crop.resized_crop->width = 0;
  CHECK(refusal(crop) == "resized_crop.width is 0: say 1 to 65535");
}

TEST_CASE("augmentation: a crop's areas and ratios are ranges that can be drawn from",
          "[transfer][host]") {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  const std::string shares = ": shares of the image's area, say a range within 0 to 1, above 0";
  CHECK(refusal(crop_of({0, 1}, {1, 1})) == "resized_crop.scale is 0 to 1" + shares);
  CHECK(refusal(crop_of({0.5, 0.4}, {1, 1})) == "resized_crop.scale is 0.5 to 0.4" + shares);
  CHECK(refusal(crop_of({0.5, 1.1}, {1, 1})) == "resized_crop.scale is 0.5 to 1.1" + shares);
  CHECK(refusal(crop_of({nan, 1}, {1, 1})) == "resized_crop.scale is nan to 1" + shares);
  const std::string ratios = ": say a range within 0.001 to 1000";
  CHECK(refusal(crop_of({0.5, 1}, {0, 1})) == "resized_crop.ratio is 0 to 1" + ratios);
  CHECK(refusal(crop_of({0.5, 1}, {2, 1})) == "resized_crop.ratio is 2 to 1" + ratios);
  CHECK(refusal(crop_of({0.5, 1}, {1, nan})) == "resized_crop.ratio is 1 to nan" + ratios);
}

TEST_CASE("augmentation: a resize is of images, into floats, and no other crop stands beside it",
          "[transfer][host]") {
  field_transform transform = resize_to(4, 4);
  transform.layout = {};
  CHECK(refusal(transform) ==
        "resize is set and layout is not: say how the field's shape is an image, "
        "image_layout::hwc or chw");
  transform = resize_to(4, 4);
  transform.to = element_type::u8;
  CHECK(refusal(transform) ==
        "to is uint8 and resize is set: a cast to integers does nothing else: leave it out, or say "
        "float32, float16 or bfloat16");
  CHECK(refusal({.field = "x", .resized_crop = random_resized_crop{4, 4}, .one_hot = 3}, {}) ==
        "one_hot is 3 and resized_crop is set: with one_hot only `to` may be set");
  const std::string one = " are set: each makes the batch's image from the dataset's; set one";
  transform = resize_to(4, 4);
  transform.crop = image_crop{.height = 2, .width = 2};
  CHECK(refusal(transform) == "crop and resize" + one);
  transform = crop_of({0.1, 1}, {1, 1});
  transform.resize = image_resize{2, 2};
  CHECK(refusal(transform) == "resize and resized_crop" + one);
  transform.resize = {};
  transform.crop = image_crop{.height = 2, .width = 2};
  CHECK(refusal(transform) == "crop and resized_crop" + one);
}

TEST_CASE("augmentation: factors lie around 1, a hue around 0, and a rectangle's ratio turns over",
          "[transfer][host]") {
  field_transform transform{.field = "x", .layout = image_layout::hwc};
  transform.jitter = color_jitter{.brightness = 0.4, .contrast = 2, .saturation = 0.1, .hue = 0.25};
  transform.erasing =
      random_erasing{.probability = 0.25, .scale = {0.1, 0.2}, .ratio = {0.5, 4}, .value = {3}};
  const auto converted = detail::convert_fields({{"x", element_type::u8, {8, 6, 3}}}, {transform});
  CHECK(converted.random);
  const pixel_operations& planned = converted.conversions[0].operations;
  CHECK(planned.any);
  CHECK(planned.steps);
  CHECK(planned.needs_image);
  CHECK(planned.channels == 0);
  const auto& by = detail::operations::of(planned);
  const auto& jitter = detail::operations::parameters_for<detail::color_jitter_operation>(by);
  CHECK(jitter.brightness.low == 0.6);
  CHECK(jitter.brightness.high == 1.4);
  CHECK(jitter.contrast.low == 0.0);
  CHECK(jitter.contrast.high == 3.0);
  CHECK(jitter.saturation.low == 0.9);
  CHECK(jitter.hue.low == -0.25);
  CHECK(jitter.hue.high == 0.25);
  const auto& erasing = detail::operations::parameters_for<detail::random_erasing_operation>(by);
  CHECK(erasing.below == 0x4000'0000);
  CHECK(erasing.area.high == 0.2);
  CHECK(erasing.log_ratio.low == -2.0);
  CHECK(erasing.log_ratio.high == 1.0);
  CHECK_FALSE(erasing.per_channel);
  CHECK(erasing.value[0] == 3.0F);
  CHECK(to_string(transform) ==
        "x: float32, layout hwc, jitter brightness 0.4 contrast 2 saturation 0.1 hue 0.25, erasing "
        "0.25 scale 0.1 to 0.2 ratio 0.5 to 4 value 3");
}

TEST_CASE("augmentation: impossible colours and rectangles are refused", "[transfer][host]") {
  const auto jitter = [](color_jitter of, element_type type, shape extents) {
    return refusal({.field = "x", .layout = image_layout::hwc, .jitter = of}, std::move(extents),
                   type);
  };
  const auto u8 = element_type::u8;
  CHECK(jitter({.brightness = 1000}, u8, {8, 6}) == accepted);
  CHECK(jitter({.hue = 0.5}, u8, {8, 6, 3}) == accepted);
  CHECK(jitter({}, element_type::f32, {8, 6, 3}) ==
        "jitter is set and the field is x: float32[8, 6, 3]: colours of uint8 change, in one "
        "channel or three");
  CHECK(jitter({}, u8, {8, 6, 2}).find("jitter is set and the field is x: uint8[8, 6, 2]") == 0);
  CHECK(jitter({.brightness = -1}, u8, {8, 6}) == "jitter.brightness is -1: say 0 to 1000");
  CHECK(jitter({.contrast = 1001}, u8, {8, 6}) == "jitter.contrast is 1001: say 0 to 1000");
  CHECK(jitter({.saturation = -0.1}, u8, {8, 6}) == "jitter.saturation is -0.1: say 0 to 1000");
  CHECK(jitter({.hue = 0.6}, u8, {8, 6}) == "jitter.hue is 0.6: say 0 to 0.5");

  const auto erasing = [](const random_erasing& of, shape extents = {8, 6, 3}) {
    return refusal({.field = "x", .layout = image_layout::hwc, .erasing = of}, std::move(extents));
  };
  CHECK(erasing({}) == accepted);
  CHECK(erasing({.value = {1, 2, 3}}) == accepted);
  CHECK(erasing({.probability = 1.5}) == "erasing.probability is 1.5: say 0 to 1");
  CHECK(erasing({.scale = {0, 1}}).find("erasing.scale is 0 to 1: shares") == 0);
  CHECK(erasing({.ratio = {0, 1}}) == "erasing.ratio is 0 to 1: say a range within 0.001 to 1000");
  CHECK(erasing({.value = {1, 2}}) ==
        "erasing.value has 2 values and the field is x: uint8[8, 6, 3]: say one for all channels, "
        "or one for each of up to 32");
  CHECK(erasing({.value = std::vector(33, 1.0)}, {8, 6, 33}).find("erasing.value has 33") == 0);
  CHECK(erasing({.value = {1e39}}) == "erasing.value is 1e+39: say finite numbers, of a float32");
}
