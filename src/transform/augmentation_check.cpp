#include <feedline/error.hpp>

#include "detail/arithmetic.hpp"
#include "detail/text.hpp"
#include "device/resize_taps.hpp"
#include "transform/augmentation.hpp"
#include "transform/field_conversions.hpp"

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

namespace feedline::detail {
namespace {

constexpr std::uint64_t max_elements = std::numeric_limits<std::uint32_t>::max();
constexpr double max_ratio = 1000;

class augmentation_check {
 public:
  augmentation_check(const field& of, const field_transform& transform)
      : field_{of}, transform_{transform} {}

  void all() const {
    check_alone();
    if (transform_.resize)
      check_extents("resize", transform_.resize->height, transform_.resize->width);
    if (transform_.resized_crop) {
      const random_resized_crop& crop = *transform_.resized_crop;
      check_extents("resized_crop", crop.height, crop.width);
      check_area("resized_crop.scale", crop.scale);
      check_ratio("resized_crop.ratio", crop.ratio);
    }
    if (transform_.jitter) check_jitter(*transform_.jitter);
    if (transform_.erasing) check_erasing(*transform_.erasing);
  }

 private:
  [[noreturn]] void refuse(const std::string& what, const std::string& allowed) const {
    throw usage_error{"transform of field '" + field_.name + "': " + what + ": " + allowed};
  }

  void check_alone() const {
    const auto both = [&](bool first, bool second, const std::string& what) {
      if (first && second)
        refuse(what + " are set", "each makes the batch's image from the dataset's; set one");
    };
    both(bool{transform_.crop}, bool{transform_.resize}, "crop and resize");
    both(bool{transform_.crop}, bool{transform_.resized_crop}, "crop and resized_crop");
    both(bool{transform_.resize}, bool{transform_.resized_crop}, "resize and resized_crop");
  }

  void check_extents(const std::string& member, std::uint64_t height, std::uint64_t width) const {
    const auto in_range = [&](const std::string& what, std::uint64_t extent) {
      if (extent == 0 || extent > max_resized)
        refuse(what + " is " + std::to_string(extent), "say 1 to " + std::to_string(max_resized));
    };
    in_range(member + ".height", height);
    in_range(member + ".width", width);
    const image_extents image = extents_of(field_, transform_);
    if (image.height > max_resized || image.width > max_resized || image.height == 0 ||
        image.width == 0)
      refuse(member + " is set and the field is " + to_string(field_),
             "images of 1 to " + std::to_string(max_resized) + " pixels a side can be resized");
    const auto elements = checked_multiply(height * width, image.channels);
    if (!elements || *elements > max_elements)
      refuse(
          member + " is of " + std::to_string(height) + " x " + std::to_string(width),
          "with all channels an image has at most " + std::to_string(max_elements) + " elements");
  }

  void check_area(const std::string& member, const value_range& range) const {
    if (!(range.low > 0 && range.low <= range.high && range.high <= 1))
      refuse(member + text_of_range(range),
             "shares of the image's area, say a range within 0 to 1, above 0");
  }

  void check_ratio(const std::string& member, const value_range& range) const {
    if (!(range.low >= 1 / max_ratio && range.low <= range.high && range.high <= max_ratio))
      refuse(member + text_of_range(range),
             "say a range within " + text_of(1 / max_ratio) + " to " + text_of(max_ratio));
  }

  void check_jitter(const color_jitter& jitter) const {
    const std::uint64_t channels = extents_of(field_, transform_).channels;
    if (field_.type != element_type::u8 || (channels != 1 && channels != 3))
      refuse("jitter is set and the field is " + to_string(field_),
             "colours of uint8 change, in one channel or three");
    const auto in_range = [&](const std::string& member, double value, double most) {
      if (!(value >= 0 && value <= most))
        refuse("jitter." + member + " is " + text_of(value), "say 0 to " + text_of(most));
    };
    in_range("brightness", jitter.brightness, max_ratio);
    in_range("contrast", jitter.contrast, max_ratio);
    in_range("saturation", jitter.saturation, max_ratio);
    in_range("hue", jitter.hue, 0.5);
  }

  void check_erasing(const random_erasing& erasing) const {
    if (!(erasing.probability >= 0 && erasing.probability <= 1))
      refuse("erasing.probability is " + text_of(erasing.probability), "say 0 to 1");
    check_area("erasing.scale", erasing.scale);
    check_ratio("erasing.ratio", erasing.ratio);
    const std::uint64_t channels = extents_of(field_, transform_).channels;
    const std::uint64_t values = erasing.value.size();
    if (values > 1 && (values != channels || values > image_augmentation::max_channels))
      refuse("erasing.value has " + std::to_string(values) + " values and the field is " +
                 to_string(field_),
             "say one for all channels, or one for each of up to " +
                 std::to_string(image_augmentation::max_channels));
    for (const double value : erasing.value)
      if (!(std::abs(value) <= double{std::numeric_limits<float>::max()}))
        refuse("erasing.value is " + text_of(value), "say finite numbers, of a float32");
  }

  static std::string text_of_range(const value_range& range) {
    return " is " + text_of(range.low) + " to " + text_of(range.high);
  }

  const field& field_;
  const field_transform& transform_;
};

}  // namespace

std::string_view first_augmentation(const field_transform& transform) noexcept {
  if (transform.resize) return "resize";
  if (transform.resized_crop) return "resized_crop";
  if (transform.jitter) return "jitter";
  if (transform.erasing) return "erasing";
  return {};
}

void check_augmentation(const field& of, const field_transform& transform) {
  augmentation_check{of, transform}.all();
}

}  // namespace feedline::detail
