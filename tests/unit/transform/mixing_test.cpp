#include "transform/mixing.hpp"

#include <feedline/error.hpp>
#include <feedline/loader/loader_options.hpp>

#include "support/checks/catch.hpp"
#include "support/checks/message_of.hpp"
#include "transform/field_conversions.hpp"

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

using namespace feedline;
using feedline::test::message_of;

namespace {

constexpr std::uint64_t always = std::uint64_t{1} << 32;
const std::string accepted = "[nothing was thrown]";

const std::vector<field> fields{{"image", element_type::u8, {8, 6, 3}},
                                {"label", element_type::i64, {}},
                                {"float", element_type::f32, {3, 8, 6}},
                                {"plane", element_type::f16, {8, 6}},
                                {"exact", element_type::f64, {4}}};

const std::vector<field_transform> transforms{
    {.field = "image", .layout = image_layout::hwc, .to_layout = image_layout::chw},
    {.field = "label", .to = element_type::f16, .one_hot = 10}};

mixing usual() {
  return {.image = "image", .label = "label", .mixup_alpha = 0.2, .cutmix_alpha = 1.0};
}

/// Message without the words that all messages begin with.
std::string behind_begin(const std::string& message) {
  const std::string begin = "loader_options::mixing.";
  return message.rfind(begin, 0) == 0 ? message.substr(begin.size()) : message;
}

/// Message for options by themselves.
std::string refusal(const mixing& options) {
  return behind_begin(
      message_of<usage_error>([&] { (void)validated({.batch_size = 4, .mixing = options}); }));
}

/// Message for options that do not suit such fields.
std::string misfit(const mixing& options, const std::vector<field_transform>& by = transforms) {
  return behind_begin(
      message_of<usage_error>([&] { (void)detail::convert_fields(fields, by, options); }));
}

pair_mixing made_of(const mixing& options, const std::vector<field_transform>& by = transforms) {
  return detail::convert_fields(fields, by, options).mixing.value();
}

}  // namespace

TEST_CASE("mixing: devices get the positions of fields and lines, and the samples' draws",
          "[transfer][host]") {
  mixing options = usual();
  options.probability = 0.5;
  options.cutmix_share = 0.25;
  const auto converted = detail::convert_fields(fields, transforms, options);
  CHECK(converted.any);
  CHECK(converted.random);
  const pair_mixing to = converted.mixing.value();
  CHECK(to.image == 0);
  CHECK(to.image_type == element_type::f32);
  CHECK(to.label == 1);
  CHECK(to.label_type == element_type::f16);
  CHECK(to.height == 8);
  CHECK(to.width == 6);
  CHECK(to.pixel_elements == 1);
  CHECK(to.mixed_below == always / 2);
  CHECK(to.cut_below == always / 4);
  CHECK(to.inverse_mixup_alpha == 5.0F);
  CHECK(to.inverse_cutmix_alpha == 1.0F);
  CHECK(to.draws == mixing_draws::batch);
  CHECK_FALSE(detail::convert_fields(fields, transforms).mixing);
}

TEST_CASE("mixing: with one alpha alone every sample that is mixed is mixed so",
          "[transfer][host]") {
  mixing options = usual();
  CHECK(made_of(options).mixed_below == always);
  CHECK(made_of(options).cut_below == always / 2);
  options.mixup_alpha = 0;
  CHECK(made_of(options).cut_below == always);
  options = {.image = "image", .mixup_alpha = 0.2};
  CHECK(made_of(options).cut_below == 0);
  CHECK(made_of(options).label == pair_mixing::none);
}

TEST_CASE("mixing: lines are those of the batch's image, as it is laid out there",
          "[transfer][host]") {
  mixing options{.image = "image", .cutmix_alpha = 1};
  auto by = transforms;
  by[0].to_layout = {};
  CHECK(made_of(options, by).pixel_elements == 3);
  by[0].crop = image_crop{.height = 5, .width = 4};
  CHECK(made_of(options, by).height == 5);
  CHECK(made_of(options, by).width == 4);
  options.image = "plane";  // the dataset's own field
  CHECK(made_of(options, by).image == 3);
  CHECK(made_of(options, by).image_type == element_type::f16);
  CHECK(made_of(options, by).height == 8);
  CHECK(made_of(options, by).width == 6);
  options = {.image = "float", .mixup_alpha = 1};  // where no box is cut, all is one line
  CHECK(made_of(options).height == 1);
  CHECK(made_of(options).width == 144);
}

TEST_CASE("mixing: options are checked by themselves, and each message says what is allowed",
          "[loader][host]") {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  constexpr double infinity = std::numeric_limits<double>::infinity();
  CHECK(refusal(usual()) == accepted);
  CHECK(refusal({.image = "x", .mixup_alpha = 0.001}) == accepted);
  CHECK(refusal({.image = "x", .cutmix_alpha = 1000, .probability = 0, .cutmix_share = 1}) ==
        accepted);
  CHECK(refusal({.mixup_alpha = 1}) == "image is empty: name the field that holds images");
  CHECK(refusal({.image = "x", .label = "x", .mixup_alpha = 1}) ==
        "label is 'x', as image is: name another field, or none");
  CHECK(refusal({.image = "x"}) ==
        "mixup_alpha and cutmix_alpha are 0: set one of them, or leave mixing out");
  const std::string alphas = ": say 0.001 to 1000, of Beta(alpha, alpha), or 0 to leave it out";
  CHECK(refusal({.image = "x", .mixup_alpha = -0.2}) == "mixup_alpha is -0.2" + alphas);
  CHECK(refusal({.image = "x", .mixup_alpha = nan}) == "mixup_alpha is nan" + alphas);
  CHECK(refusal({.image = "x", .cutmix_alpha = infinity}) == "cutmix_alpha is inf" + alphas);
  CHECK(refusal({.image = "x", .cutmix_alpha = 0.0009}) == "cutmix_alpha is 9e-04" + alphas);
  CHECK(refusal({.image = "x", .mixup_alpha = 1, .cutmix_alpha = 1001}) ==
        "cutmix_alpha is 1001" + alphas);
  CHECK(refusal({.image = "x", .mixup_alpha = 1, .probability = 1.5}) ==
        "probability is 1.5: say 0 to 1");
  CHECK(refusal({.image = "x", .mixup_alpha = 1, .probability = nan}) ==
        "probability is nan: say 0 to 1");
  CHECK(refusal({.image = "x", .mixup_alpha = 1, .cutmix_share = -0.1}) ==
        "cutmix_share is -0.1: say 0 to 1");
  CHECK(refusal({.image = "x", .mixup_alpha = 1, .draws = static_cast<mixing_draws>(3)}) ==
        "draws is 3: say mixing_draws::batch, pair or sample");
}

TEST_CASE("mixing: fields that do not exist, or are no floats, are refused with a remedy",
          "[loader][host]") {
  mixing options = usual();
  options.image = "picture";
  CHECK(misfit(options) ==
        "image is 'picture': there is no such field; the dataset has 'image', 'label', 'float', "
        "'plane', 'exact'");
  options = usual();
  options.label = "class";
  CHECK(misfit(options).find("label is 'class': there is no such field") == 0);
  CHECK(misfit(usual(), {}) ==
        "image is 'image' and the field is image: uint8[8, 6, 3] in batches: float32, float16 and "
        "bfloat16 are mixed, give it a transform with .to = element_type::f32, or f16 or bf16");
  CHECK(misfit(usual(), {transforms[0]}) ==
        "label is 'label' and the field is label: int64[] in batches: float32, float16 and "
        "bfloat16 are mixed, give it a transform with .one_hot = the number of classes");
  CHECK(misfit({.image = "exact", .mixup_alpha = 1}).find("image is 'exact' and the field is ") ==
        0);
  CHECK(misfit({.image = "plane", .label = "float", .mixup_alpha = 1}) == accepted);
}

TEST_CASE("mixing: a box needs a height and a width", "[loader][host]") {
  const mixing options{.image = "float", .cutmix_alpha = 0.5};
  CHECK(misfit(options) ==
        "cutmix_alpha is 0.5 and the image is float: float32[3, 8, 6] with no layout: a box needs "
        "height and width, say by a transform of the field which extents these are, .layout = "
        "image_layout::hwc or chw");
  CHECK(misfit(options, {{.field = "float"}}).find("cutmix_alpha is 0.5") == 0);
  CHECK(misfit(options, {{.field = "float", .layout = image_layout::chw}}) == accepted);
}

TEST_CASE("mixing: its text names all members that differ from their default", "[transfer][host]") {
  CHECK(to_string(usual()) ==
        "mixing of image and label: mixup 0.2, cutmix 1, draws for each batch");
  mixing options{.image = "x", .cutmix_alpha = 0.5, .probability = 0.25, .cutmix_share = 0.75};
  options.draws = mixing_draws::pair;
  CHECK(to_string(options) ==
        "mixing of x: cutmix 0.5, probability 0.25, cutmix_share 0.75, draws for each pair");
  options.draws = mixing_draws::sample;  // the text of versions that drew so
  CHECK(to_string(options) == "mixing of x: cutmix 0.5, probability 0.25, cutmix_share 0.75");
}
