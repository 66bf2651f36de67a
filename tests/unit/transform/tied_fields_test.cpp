/// Fields that belong to an image: transforms that would move one without the other are refused.

#include <feedline/error.hpp>

#include "support/checks/catch.hpp"
#include "support/checks/message_of.hpp"
#include "transform/field_conversions.hpp"

#include <string>
#include <vector>

using namespace feedline;
using feedline::test::message_of;

namespace {

constexpr auto hwc = image_layout::hwc;

const field image{"image", element_type::u8, {32, 32, 3}};
const field mask{"mask", element_type::u8, {32, 32}, image_tie{.image = "image"}};

field boxes(double flip) {
  return {"boxes", element_type::f32, {10, 4}, image_tie{.image = "image", .flip = flip}};
}

std::string refusal(const std::vector<field>& fields,
                    const std::vector<field_transform>& transforms,
                    const std::optional<mixing>& mixed = {}) {
  return message_of<usage_error>([&] { (void)detail::convert_fields(fields, transforms, mixed); });
}

const std::string accepted = "[nothing was thrown]";

}  // namespace

TEST_CASE("tied fields: a mask moves as its image does, or the loader refuses", "[loader][host]") {
  const field_transform flipped{.field = "image", .layout = hwc, .flip = 0.5};
  const field_transform with{.field = "mask", .to = element_type::u8, .layout = hwc, .flip = 0.5};
  CHECK(refusal({image, mask}, {}) == accepted);
  CHECK(refusal({image, mask}, {flipped, with}) == accepted);
  CHECK(refusal({image}, {flipped}) == accepted);
  CHECK(refusal({mask}, {with}) == accepted);
  CHECK(refusal({image, mask}, {{.field = "image", .scale = 2, .layout = hwc}}) == accepted);
  CHECK(refusal({image, mask}, {flipped}) ==
        "transforms: field 'mask' belongs to 'image', but that image's transform is 'flip 0.5', "
        "and its own is nothing: give both the same flip, crop, resize, resized_crop, "
        "affine and perspective");
  const image_crop crop{.height = 8, .width = 8};
  const field_transform cropped{.field = "image", .layout = hwc, .crop = crop};
  CHECK(refusal({image, mask}, {cropped, with}) ==
        "transforms: field 'mask' belongs to 'image', but that image's transform is 'crop 8 x 8 "
        "padding 0 random', and its own is 'flip 0.5': give both the same flip, crop, resize, "
        "resized_crop, affine and perspective");
  const field_transform crop_of_mask{
      .field = "mask", .to = element_type::u8, .layout = hwc, .crop = crop};
  CHECK(refusal({image, mask}, {cropped, crop_of_mask}) == accepted);
  const field half{"mask", element_type::u8, {16, 16}, image_tie{.image = "image"}};
  CHECK(refusal({image, half}, {cropped, crop_of_mask}) ==
        "transforms: field 'mask' belongs to 'image', but they are mask: uint8[16, 16] of image "
        "and image: uint8[32, 32, 3], and both are cut or rotated: decode both to the same height "
        "and width");
  CHECK(refusal({image, half}, {flipped, with}) == accepted);
}

TEST_CASE("tied fields: a mask is rotated as its image is, with its own fill, and sets are refused",
          "[loader][host]") {
  field_transform rotated{.field = "image", .layout = hwc};
  rotated.affine =
      random_affine{.degrees = {-9, 9}, .interpolation = interpolation::bilinear, .fill = 3};
  field_transform with{.field = "mask", .layout = hwc};
  with.affine = random_affine{.degrees = {-9, 9}, .fill = 255};
  CHECK(refusal({image, mask}, {rotated, with}) == accepted);
  with.affine->degrees.high = 8;
  CHECK(refusal({image, mask}, {rotated, with}).find("affine and perspective") !=
        std::string::npos);
  with.affine = {};
  CHECK(refusal({image, mask}, {rotated, with}) != accepted);
  field_transform of_set{.field = "image", .layout = hwc};
  SECTION("trivial_augment_wide") {
    of_set.trivial_augment_wide = trivial_augment_wide{};
  }
  SECTION("rand_augment") {
    of_set.rand_augment = rand_augment{};
  }
  SECTION("auto_augment") {
    of_set.auto_augment = auto_augment{};
  }
  SECTION("augmix") {
    of_set.augmix = augmix{};
  }
  CHECK(refusal({image}, {of_set}) == accepted);
  for (const field& tied : {mask, boxes(0)})
    CHECK(refusal({image, tied}, {of_set}) ==
          "transforms: field '" + tied.name +
              "' belongs to 'image', but a transform has a set of operations, some of which move "
              "pixels: what belongs to an image would not follow; use " +
              (tied.tie->flip ? "operations on colours, such as jitter"
                              : "affine or perspective for both, or jitter"));
}

TEST_CASE("tied fields: boxes have the flip of their image, which is not cut on the device",
          "[loader][host]") {
  const field_transform flipped{.field = "image", .layout = hwc, .flip = 0.5};
  CHECK(refusal({image, boxes(0.5)}, {flipped}) == accepted);
  CHECK(refusal({image, boxes(0)}, {}) == accepted);
  CHECK(refusal({image, boxes(0.25)}, {flipped}) ==
        "transforms: field 'boxes' belongs to 'image', but that image is flipped with probability "
        "0.5, and its coordinates with 0.25: set the same flip in the image's transform and in "
        "annotation_options");
  CHECK(refusal({image, boxes(0)}, {flipped}) != accepted);
  CHECK(refusal({image, boxes(0.5)}, {}) != accepted);
  const std::string cut =
      "coordinates do not follow; let the decoder cut and resize (image_options)";
  for (const field_transform& moved :
       {field_transform{.field = "image", .layout = hwc, .crop = image_crop{8, 8}},
        field_transform{.field = "image", .layout = hwc, .resize = image_resize{8, 8}},
        field_transform{
            .field = "image", .layout = hwc, .resized_crop = random_resized_crop{8, 8}}})
    CHECK(refusal({image, boxes(0)}, {moved}).ends_with(cut));
}

TEST_CASE("tied fields: boxes are moved as their image is, or the loader refuses",
          "[loader][host]") {
  field_transform moved{.field = "image", .layout = hwc};
  moved.affine = random_affine{.degrees = {-9, 9}, .fill = 3};
  moved.perspective = random_perspective{.distortion_scale = 0.2};
  const std::string text =
      "affine degrees -9 to 9 translate 0 0 scale 1 to 1 shear 0 to 0 0 to 0, perspective 0.5 "
      "distortion 0.2";
  field follows = boxes(0);
  follows.tie->moves = text;
  CHECK(refusal({image, follows}, {moved}) == accepted);
  const std::string remedy =
      ": set the same affine and perspective in the image's transform and in annotation_options";
  CHECK(refusal({image, boxes(0)}, {moved}) ==
        "transforms: field 'boxes' belongs to 'image', but that image is moved by '" + text +
            "', and its coordinates by nothing" + remedy);
  CHECK(refusal({image, follows}, {}) ==
        "transforms: field 'boxes' belongs to 'image', but that image is moved by nothing, and its "
        "coordinates by '" +
            text + "'" + remedy);
  moved.perspective->distortion_scale = 0.3;
  CHECK(refusal({image, follows}, {moved}).ends_with(remedy));
  CHECK(to_string(follows) == "boxes: float32[10, 4] of image, flip 0, moved by '" + text + "'");
}

TEST_CASE("tied fields: an image that others belong to is not mixed", "[loader][host]") {
  const std::vector<field_transform> floats{{.field = "image", .layout = hwc}};
  const mixing mixed{.image = "image", .mixup_alpha = 0.2};
  CHECK(refusal({image}, floats, mixed) == accepted);
  for (const field& tied : {mask, boxes(0)})
    CHECK(refusal({image, tied}, floats, mixed) ==
          "transforms: field '" + tied.name +
              "' belongs to 'image', but mixing mixes that image: "
              "what belongs to it would not be mixed");
}
