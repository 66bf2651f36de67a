#include "detail/arithmetic.hpp"
#include "detail/image_side.hpp"
#include "detail/text.hpp"
#include "transform/field_conversions.hpp"
#include "transform/operations/check.hpp"

#include <cstdint>
#include <limits>
#include <string>

namespace feedline::detail {
namespace {

constexpr std::uint64_t most = std::numeric_limits<std::uint32_t>::max();

class window_check {
 public:
  window_check(const checked_field& field, const field_transform& transform)
      : field_{field}, transform_{transform}, image_{extents_of(field.of, transform)} {}

  void all() const {
    if (transform_.crop) check_crop(*transform_.crop);
    check_alone();
    if (transform_.resize) check_extents("resize", *transform_.resize);
    if (transform_.resized_crop) {
      const random_resized_crop& crop = *transform_.resized_crop;
      check_extents("resized_crop", crop);
      field_.area("resized_crop.scale", crop.scale);
      field_.ratio("resized_crop.ratio", crop.ratio);
    }
  }

 private:
  void check_alone() const {
    const auto both = [&](bool first, bool second, const std::string& what) {
      if (first && second)
        field_.refuse(what + " are set",
                      "each makes the batch's image from the dataset's; set one");
    };
    both(bool{transform_.crop}, bool{transform_.resize}, "crop and resize");
    both(bool{transform_.crop}, bool{transform_.resized_crop}, "crop and resized_crop");
    both(bool{transform_.resize}, bool{transform_.resized_crop}, "resize and resized_crop");
  }

  template <class Size>
  void check_extents(const std::string& member, const Size& size) const {
    const auto in_range = [&](const std::string& what, std::uint64_t extent) {
      if (!is_image_side(extent))
        field_.refuse(what + " is " + std::to_string(extent),
                      "say 1 to " + std::to_string(max_image_side));
    };
    in_range(member + ".height", size.height);
    in_range(member + ".width", size.width);
    if (!is_image_side(image_.height) || !is_image_side(image_.width))
      field_.refuse(
          member + " is set and the field is " + to_string(field_.of),
          "images of 1 to " + std::to_string(max_image_side) + " pixels a side can be resized");
    check_elements(member, size, "an image");
  }

  /// @param size Height and width, each below 2^32.
  template <class Size>
  void check_elements(const std::string& member, const Size& size, const std::string& what) const {
    const auto elements = checked_multiply(size.height * size.width, field_.channels);
    if (!elements || *elements > most)
      field_.refuse(member + " is of " + text_of(size.height) + " x " + text_of(size.width),
                    "with all channels " + what + " has at most " + text_of(most) + " elements");
  }

  void check_crop(const image_crop& crop) const {
    if (crop.padding > most / 2)
      field_.refuse("crop.padding is " + text_of(crop.padding), "say 0 to " + text_of(most / 2));
    const auto fits = [&](const std::string& member, std::uint64_t window, std::uint64_t extent) {
      const std::uint64_t room = extent + 2 * crop.padding;
      if (window == 0 || window > room)
        field_.refuse(member + " is " + text_of(window),
                      "say 1 to " + text_of(room) + ", the image's " + text_of(extent) +
                          " with a padding of " + text_of(crop.padding) + " on both sides");
      if (room > most)
        field_.refuse("crop.padding is " + text_of(crop.padding),
                      "an image's extent of " + text_of(extent) +
                          " with its padding is to be at most " + text_of(most));
    };
    fits("crop.height", crop.height, image_.height);
    fits("crop.width", crop.width, image_.width);
    check_elements("crop", crop, "a window");
  }

  const checked_field& field_;
  const field_transform& transform_;
  image_extents image_;
};

}  // namespace

void check_window(const field& of, const field_transform& transform, std::uint64_t channels) {
  window_check{{of, channels}, transform}.all();
}

}  // namespace feedline::detail
