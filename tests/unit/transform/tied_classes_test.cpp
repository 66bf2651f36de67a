/// Masks, which belong to an image: transforms that would blend their classes are refused.

#include <feedline/error.hpp>

#include "support/checks/catch.hpp"
#include "support/checks/message_of.hpp"
#include "transform/field_conversions.hpp"

#include <string>
#include <vector>

using namespace feedline;

namespace {

using interpolations = decltype(random_affine::interpolation);

/// The message for the same transform of an image, and of a field that belongs to it.
std::string refusal(const std::vector<std::uint64_t>& shape, field_transform transform) {
  const field image{"image", element_type::u8, {32, 32, 3}};
  const field other{"other", element_type::u8, shape, image_tie{.image = "image"}};
  transform.layout = image_layout::hwc;
  std::vector<field_transform> both{transform, transform};
  both[0].field = "image";
  both[1].field = "other";
  return test::message_of<usage_error>([&] { (void)detail::convert_fields({image, other}, both); });
}

field_transform turned(interpolations by) {
  field_transform transform;
  transform.affine = random_affine{.degrees = {-9, 9}, .interpolation = by};
  return transform;
}

}  // namespace

TEST_CASE("tied fields: no transform blends the classes of a mask", "[loader][host]") {
  const std::string accepted = "[nothing was thrown]";
  const std::vector<std::uint64_t> mask{32, 32};
  const std::vector<std::uint64_t> photo{32, 32, 3};
  const auto words = [](const std::string& member) {
    return "transform of field 'other': it has " + member +
           ", which blends values, but they are the classes of a mask: let the decoder cut and "
           "resize (image_options)";
  };
  CHECK(refusal(mask, {.field = {}, .resize = image_resize{8, 8}}) == words("resize"));
  CHECK(refusal(mask, {.field = {}, .resized_crop = random_resized_crop{8, 8}}) ==
        words("resized_crop"));
  CHECK(refusal(mask, turned(interpolations::bilinear)) ==
        words("affine with another interpolation than nearest"));
  CHECK(refusal(mask, turned(interpolations::nearest)) == accepted);
  field_transform shown{.field = {}};
  shown.perspective = random_perspective{};
  CHECK(refusal(mask, shown) == words("perspective with another interpolation than nearest"));
  shown.perspective->interpolation = interpolations::nearest;
  CHECK(refusal(mask, shown) == accepted);
  field_transform soft{.field = {}};
  soft.gaussian_blur = gaussian_blur{};
  CHECK(refusal(mask, soft) == words("gaussian_blur"));
  CHECK(refusal(mask, {.field = {}, .flip = 0.5, .crop = image_crop{8, 8}}) == accepted);
  for (const field_transform& each :
       {field_transform{.field = {}, .resize = image_resize{8, 8}},
        field_transform{.field = {}, .resized_crop = random_resized_crop{8, 8}},
        turned(interpolations::bilinear)})
    CHECK(refusal(photo, each) == accepted);
}
