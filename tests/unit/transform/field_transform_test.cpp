#include <feedline/transform/field_transform.hpp>

#include "support/checks/catch.hpp"

using namespace feedline;

TEST_CASE("field transform: its text names all members that differ from their default",
          "[transform][host]") {
  CHECK(to_string(field_transform{.field = "note"}) == "note: float32");
  CHECK(to_string(field_transform{.field = "label", .to = element_type::i64}) == "label: int64");
  CHECK(to_string(field_transform{.field = "label", .one_hot = 10}) ==
        "label: float32, one_hot 10");
  CHECK(to_string(field_transform{.field = "image",
                                  .to = element_type::f16,
                                  .scale = 0.1,
                                  .mean = {0.5, 1, 1e-300},
                                  .stddev = {2},
                                  .layout = image_layout::hwc,
                                  .to_layout = image_layout::chw,
                                  .flip = 0.25,
                                  .crop = image_crop{.height = 32, .width = 24, .padding = 4}}) ==
        "image: float16, scale 0.1, mean 0.5 1 1e-300, stddev 2, layout hwc, to_layout chw, flip "
        "0.25, crop 32 x 24 padding 4 random");
  CHECK(to_string(field_transform{.field = "image",
                                  .crop = image_crop{.height = 1, .width = 2, .random = false}}) ==
        "image: float32, crop 1 x 2 padding 0 middle");
}

TEST_CASE("field transform: its text names the resizing of images, with all ranges",
          "[transform][host]") {
  CHECK(to_string(field_transform{.field = "image", .resize = image_resize{224, 192}}) ==
        "image: float32, resize 224 x 192");
  CHECK(to_string(field_transform{.field = "image",
                                  .resized_crop = random_resized_crop{.height = 8, .width = 6}}) ==
        "image: float32, resized_crop 8 x 6 scale 0.08 to 1 ratio 0.75 to 1.3333333333333333");
}
