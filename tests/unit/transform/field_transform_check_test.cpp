#include <feedline/error.hpp>

#include "support/checks/catch.hpp"
#include "support/checks/message_of.hpp"
#include "transform/field_conversions.hpp"

#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

using namespace feedline;
using feedline::test::message_of;

namespace {

using shape = std::vector<std::uint64_t>;

constexpr auto hwc = image_layout::hwc;
constexpr auto chw = image_layout::chw;
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

/// Message for a transform of field 'x', without the words that all messages begin with.
std::string refusal(const field_transform& transform, shape of = {8, 6, 3},
                    element_type type = element_type::u8) {
  const std::string begin = "transform of field 'x': ";
  const field x{"x", type, std::move(of)};
  const std::string message =
      message_of<usage_error>([&] { detail::check_transform(x, transform); });
  return message.rfind(begin, 0) == 0 ? message.substr(begin.size()) : message;
}

const std::string accepted = "[nothing was thrown]";

}  // namespace

TEST_CASE("field transform: possible settings are accepted", "[transfer][host]") {
  CHECK(refusal({}) == accepted);
  CHECK(refusal({.field = "x",
                 .scale = 1 / 255.0,
                 .mean = {0.485, 0.456, 0.406},
                 .stddev = {0.229, 0.224, 0.225},
                 .layout = hwc,
                 .to_layout = chw,
                 .flip = 0.5,
                 .crop = image_crop{.height = 16, .width = 14, .padding = 4}}) == accepted);
  CHECK(refusal({.field = "x", .scale = -1, .mean = {-1}, .stddev = {2}, .flip = 0}) == accepted);
  CHECK(refusal({.field = "x", .layout = chw, .flip = 1}, {28, 28}) == accepted);
  CHECK(refusal({.field = "x", .one_hot = 10}, {}, element_type::u64) == accepted);
}

TEST_CASE("field transform: integers and booleans are cast to each other, and not scaled",
          "[transfer][host]") {
  for (int from = 0; from <= 12; ++from) {
    const auto type = static_cast<element_type>(from);
    CHECK((refusal({.field = "x", .to = element_type::i64}, {}, type) == accepted) ==
          is_whole(type));
    if (is_whole(type))
      CHECK(refusal({.field = "x", .to = type}, {8, 6}, element_type::boolean) == accepted);
  }
  CHECK(refusal({.field = "x", .to = element_type::i32, .layout = hwc, .flip = 0.5}) == accepted);
  CHECK(refusal({.field = "x", .to = element_type::i64}, {2}, element_type::f32) ==
        "to is int64 and the field is x: float32[2]: only integers and booleans can be cast "
        "to integers: say float32, float16 or bfloat16");
  const std::string rest =
      " is set: a cast to integers does nothing else: leave it out, or say float32, float16 or "
      "bfloat16";
  CHECK(refusal({.field = "x", .to = element_type::u8, .scale = 2}) ==
        "to is uint8 and scale" + rest);
  CHECK(refusal({.field = "x", .to = element_type::u8, .mean = {2}}) ==
        "to is uint8 and mean" + rest);
  CHECK(refusal({.field = "x", .to = element_type::boolean, .stddev = {2}}) ==
        "to is bool and stddev" + rest);
}

TEST_CASE("field transform: a field becomes one of three floating-point types",
          "[transfer][host]") {
  for (const element_type to : {element_type::f32, element_type::f16, element_type::bf16})
    CHECK(refusal({.field = "x", .to = to}) == accepted);
  CHECK(refusal({.field = "x", .to = element_type::f64}) ==
        "to is float64: say float32, float16 or bfloat16");
}

TEST_CASE("field transform: numbers are finite, and a stddev is above 0", "[transfer][host]") {
  const std::string finite = ": say a finite number";
  CHECK(refusal({.field = "x", .scale = not_a_number}) == "scale is nan" + finite);
  CHECK(refusal({.field = "x", .scale = -infinity}) == "scale is -inf" + finite);
  CHECK(refusal({.field = "x", .mean = {0, infinity, 0}, .layout = hwc}) ==
        "mean[1] is inf" + finite);
  const std::string above = ": values are divided by it, say a finite number above 0";
  CHECK(refusal({.field = "x", .stddev = {0}}) == "stddev[0] is 0" + above);
  CHECK(refusal({.field = "x", .stddev = {1, 1, -0.25}, .layout = hwc}) ==
        "stddev[2] is -0.25" + above);
  CHECK(refusal({.field = "x", .stddev = {infinity}}) == "stddev[0] is inf" + above);
  CHECK(refusal({.field = "x", .stddev = {not_a_number}}) == "stddev[0] is nan" + above);
}

TEST_CASE("field transform: scale and offset fit in a float32", "[transfer][host]") {
  const std::string beyond = ": that is beyond a float32, 3.4e38";
  CHECK(refusal({.field = "x", .scale = 1e39}) == "scale is 1e+39" + beyond);
  CHECK(refusal({.field = "x", .mean = {-1e39}}) == "mean[0] is -1e+39" + beyond);
  CHECK(refusal({.field = "x", .stddev = {1e-40}}) == "scale / stddev[0] is 1e+40" + beyond);
  CHECK(refusal({.field = "x", .scale = 0, .mean = {2}, .stddev = {1, 1e-40, 1}, .layout = hwc}) ==
        "mean[0] / stddev[1] is 2e+40" + beyond);
  CHECK(refusal({.field = "x", .scale = 0, .mean = {0, 0, 2}, .stddev = {1e-40}, .layout = hwc}) ==
        "mean[2] / stddev[0] is 2e+40" + beyond);
  CHECK(refusal({.field = "x", .scale = 1e300, .mean = {1e300}, .stddev = {1e300}}) == accepted);
}

TEST_CASE("field transform: a flip is a probability", "[transfer][host]") {
  const std::string allowed = ": it is a probability, say 0 to 1";
  CHECK(refusal({.field = "x", .layout = hwc, .flip = 1.5}) == "flip is 1.5" + allowed);
  CHECK(refusal({.field = "x", .layout = hwc, .flip = -0.1}) == "flip is -0.1" + allowed);
  CHECK(refusal({.field = "x", .layout = hwc, .flip = not_a_number}) == "flip is nan" + allowed);
}

TEST_CASE("field transform: a layout is of two or three extents", "[transfer][host]") {
  const std::string extents =
      ": an image has two extents, {height, width}, or three, with channels";
  CHECK(refusal({.field = "x", .layout = hwc}, {5}) ==
        "layout is set and the field is x: uint8[5]" + extents);
  CHECK(refusal({.field = "x", .layout = chw}, {1, 2, 3, 4}) ==
        "layout is set and the field is x: uint8[1, 2, 3, 4]" + extents);
  CHECK(refusal({.field = "x", .layout = chw}, {}) ==
        "layout is set and the field is x: uint8[]" + extents);
}

TEST_CASE("field transform: options for images need a layout", "[transfer][host]") {
  const std::string needed =
      " is set and layout is not: say how the field's shape is an image, image_layout::hwc or chw";
  CHECK(refusal({.field = "x", .to_layout = chw}) == "to_layout" + needed);
  CHECK(refusal({.field = "x", .flip = 0.5}) == "flip" + needed);
  CHECK(refusal({.field = "x", .crop = image_crop{.height = 1, .width = 1}}) == "crop" + needed);
}

TEST_CASE("field transform: there is one mean and stddev for each channel, or one for all",
          "[transfer][host]") {
  CHECK(refusal({.field = "x", .mean = {1, 2}, .layout = hwc}) ==
        "mean has 2 values and the field, x: uint8[8, 6, 3], has 3 channels: say one value for "
        "each, or one for all");
  CHECK(refusal({.field = "x", .stddev = {1, 2, 3}, .layout = chw}, {28, 28}) ==
        "stddev has 3 values and the field, x: uint8[28, 28], has 1 channel: say one value for "
        "each, or one for all");
  CHECK(refusal({.field = "x", .mean = {1, 2, 3}}) ==
        "mean has 3 values and layout is not set: say which of the shape's extents are channels, "
        "image_layout::hwc or chw, or one value for all");
}

TEST_CASE("field transform: up to 32 channels each have their own", "[transfer][host]") {
  CHECK(refusal({.field = "x", .mean = std::vector(32, 1.0), .layout = chw}, {32, 2, 2}) ==
        accepted);
  CHECK(refusal({.field = "x", .mean = std::vector(33, 1.0), .layout = chw}, {33, 2, 2}) ==
        "mean has 33 values: each channel can have its own up to 32 channels; say one for all");
  CHECK(refusal({.field = "x", .mean = {1}, .stddev = std::vector(33, 1.0), .layout = chw},
                {33, 2, 2}) ==
        "stddev has 33 values: each channel can have its own up to 32 channels; say one for "
        "all");
  CHECK(refusal({.field = "x", .mean = {1}, .layout = chw}, {33, 2, 2}) == accepted);
}

TEST_CASE("field transform: a crop is some of the image with its padding", "[transfer][host]") {
  const auto of = [](image_crop crop) {
    return refusal({.field = "x", .layout = hwc, .crop = crop});
  };
  CHECK(of({.height = 8, .width = 6}) == accepted);
  CHECK(of({.height = 12, .width = 10, .padding = 2}) == accepted);
  CHECK(of({.height = 0, .width = 6}) ==
        "crop.height is 0: say 1 to 8, the image's 8 with a padding of 0 on both sides");
  CHECK(of({.height = 8}) ==
        "crop.width is 0: say 1 to 6, the image's 6 with a padding of 0 on both sides");
  CHECK(of({.height = 13, .width = 6, .padding = 2}) ==
        "crop.height is 13: say 1 to 12, the image's 8 with a padding of 2 on both sides");
  CHECK(of({.height = 8, .width = 11, .padding = 2}) ==
        "crop.width is 11: say 1 to 10, the image's 6 with a padding of 2 on both sides");
}

TEST_CASE("field transform: extents and elements of a row are counted in 32 bits",
          "[transfer][host]") {
  const std::uint64_t beyond = std::uint64_t{1} << 32;
  CHECK(refusal({}, {beyond - 1}) == accepted);
  CHECK(refusal({}, {beyond}) ==
        "the field is x: uint8[4294967296]: a sample of at most 4294967295 elements can be "
        "transformed");
  CHECK(refusal({.field = "x", .layout = chw}, {beyond, 1}) ==
        "the field is x: uint8[4294967296, 1]: a sample of at most 4294967295 elements can be "
        "transformed");
  const auto padded = [](std::uint64_t height, std::uint64_t padding) {
    return refusal({.field = "x",
                    .layout = hwc,
                    .crop = image_crop{.height = height, .width = height, .padding = padding}});
  };
  CHECK(padded(1, 2'147'483'640) == accepted);
  CHECK(padded(1, 2'147'483'644) ==
        "crop.padding is 2147483644: an image's extent of 8 with its padding is to be at most "
        "4294967295");
  CHECK(padded(1, beyond) == "crop.padding is 4294967296: say 0 to 2147483647");
  CHECK(padded(1, UINT64_MAX) == "crop.padding is 18446744073709551615: say 0 to 2147483647");
  CHECK(padded(37'000, 20'000) == accepted);
  CHECK(padded(38'000, 20'000) ==
        "crop is of 38000 x 38000: with all channels a window has at most 4294967295 elements");
  CHECK(padded(4'000'000'000, 2'000'000'000) ==
        "crop is of 4000000000 x 4000000000: with all channels a window has at most 4294967295 "
        "elements");
}

TEST_CASE("field transform: one-hot is for one integer a sample, of a class", "[transfer][host]") {
  const std::string integers = ": it is for fields of integers, one a sample";
  CHECK(refusal({.field = "x", .one_hot = 10}, {28, 28}) ==
        "one_hot is 10 and the field is x: uint8[28, 28]" + integers);
  CHECK(refusal({.field = "x", .one_hot = 10}, {}, element_type::f32) ==
        "one_hot is 10 and the field is x: float32[]" + integers);
  CHECK(refusal({.field = "x", .one_hot = 2}, {}, element_type::boolean) ==
        "one_hot is 2 and the field is x: bool[]" + integers);
  for (const element_type type : {element_type::f16, element_type::bf16, element_type::f64})
    CHECK(refusal({.field = "x", .one_hot = 10}, {}, type) != accepted);
  CHECK(refusal({.field = "x", .one_hot = 4'294'967'295}, {}) == accepted);
  CHECK(refusal({.field = "x", .one_hot = 4'294'967'296}, {}) ==
        "one_hot is 4294967296: say 1 to 4294967295 classes");
  CHECK(refusal({.field = "x", .to = element_type::i32, .one_hot = 10}, {}) ==
        "to is int32 and one_hot is set: say float32, float16 or bfloat16");
}

TEST_CASE("field transform: beside one-hot nothing but the type counts", "[transfer][host]") {
  const auto with = [](const std::string& member) {
    return "one_hot is 10 and " + member + " is set: with one_hot only `to` may be set";
  };
  CHECK(refusal({.field = "x", .to = element_type::bf16, .one_hot = 10}, {}) == accepted);
  CHECK(refusal({.field = "x", .scale = 2, .one_hot = 10}, {}) == with("scale"));
  CHECK(refusal({.field = "x", .scale = not_a_number, .one_hot = 10}, {}) == with("scale"));
  CHECK(refusal({.field = "x", .mean = {0}, .one_hot = 10}, {}) == with("mean"));
  CHECK(refusal({.field = "x", .stddev = {1}, .one_hot = 10}, {}) == with("stddev"));
  CHECK(refusal({.field = "x", .layout = hwc, .one_hot = 10}, {}) == with("layout"));
  CHECK(refusal({.field = "x", .to_layout = hwc, .one_hot = 10}, {}) == with("to_layout"));
  CHECK(refusal({.field = "x", .flip = 0.5, .one_hot = 10}, {}) == with("flip"));
  CHECK(refusal({.field = "x", .crop = image_crop{}, .one_hot = 10}, {}) == with("crop"));
}

TEST_CASE("field transform: a shape that holds nothing is refused", "[transfer][host]") {
  CHECK(refusal({.field = "x", .layout = hwc}, {8, 0, 3}) ==
        "field x: uint8[8, 0, 3]: a dimension is 0, so a sample would hold nothing");
}
