#include <feedline/error.hpp>

#include "detail/text.hpp"
#include "transform/field_conversions.hpp"
#include "transform/operations/operations.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace feedline::detail {
namespace {

constexpr std::uint64_t most = std::numeric_limits<std::uint32_t>::max();

std::string element_of(std::string_view member, std::size_t place) {
  return std::string{member} + '[' + std::to_string(place) + ']';
}

/// The members of one field's transform, checked.
class transform_check {
 public:
  transform_check(const field& of, const field_transform& transform)
      : field_{of}, transform_{transform} {}

  void all() const {
    check_type();
    if (transform_.one_hot != 0) return check_one_hot();
    check_numbers();
    check_elements();
    check_layout();
    const std::uint64_t channels = extents_of(field_, transform_).channels;
    const auto one_set = [&](bool first, bool second, const std::string& what) {
      if (first && second) refuse(what + " are set", "each is a whole set; set one");
    };
    const bool trivial = bool{transform_.trivial_augment_wide};
    const bool automatic = bool{transform_.auto_augment};
    one_set(trivial, bool{transform_.rand_augment}, "trivial_augment_wide and rand_augment");
    one_set(trivial, automatic, "trivial_augment_wide and auto_augment");
    one_set(bool{transform_.rand_augment}, automatic, "rand_augment and auto_augment");
    const bool mixes = bool{transform_.augmix};
    one_set(trivial, mixes, "trivial_augment_wide and augmix");
    one_set(bool{transform_.rand_augment}, mixes, "rand_augment and augmix");
    one_set(automatic, mixes, "auto_augment and augmix");
    if (transform_.gaussian_blur && transform_.sharpness)
      refuse("gaussian_blur and sharpness are set", "one blurs what the other sharpens; set one");
    operations::check(transform_, {field_, channels});
    check_counts("mean", transform_.mean.size());
    check_counts("stddev", transform_.stddev.size());
    check_quotients();
    check_window(field_, transform_,
                 std::max(channels, operations::channels_after(transform_, channels)));
  }

 private:
  /// @param what The member and its value: "flip is 2".
  [[noreturn]] void refuse(const std::string& what, const std::string& allowed) const {
    checked_field{field_}.refuse(what, allowed);
  }

  void check_type() const {
    if (transform_.to == element_type::f32 || transform_.to == element_type::f16 ||
        transform_.to == element_type::bf16)
      return;
    const std::string what = "to is " + std::string{to_string(transform_.to)};
    const std::string floats = "say float32, float16 or bfloat16";
    if (transform_.one_hot != 0) refuse(what + " and one_hot is set", floats);
    if (!is_whole(transform_.to)) refuse(what, floats);
    if (!is_whole(field_.type))
      refuse(what + " and the field is " + to_string(field_),
             "only integers and booleans can be cast to integers: " + floats);
    const auto alone = [&](bool is_default, std::string_view member) {
      if (!is_default)
        refuse(what + " and " + std::string{member} + " is set",
               "a cast to integers does nothing else: leave it out, or " + floats);
    };
    alone(transform_.scale == 1.0, "scale");
    alone(transform_.mean.empty(), "mean");
    alone(transform_.stddev.empty(), "stddev");
    alone(computed_.empty(), computed_);
  }

  void check_one_hot() const {
    const std::string what = "one_hot is " + text_of(transform_.one_hot);
    const bool integer = is_whole(field_.type) && field_.type != element_type::boolean;
    if (!integer || sample_bytes(field_) != size_bytes(field_.type))
      refuse(what + " and the field is " + to_string(field_),
             "it is for fields of integers, one a sample");
    if (transform_.one_hot > most) refuse(what, "say 1 to " + text_of(most) + " classes");
    const auto alone = [&](bool is_default, std::string_view member) {
      if (!is_default)
        refuse(what + " and " + std::string{member} + " is set",
               "with one_hot only `to` may be set");
    };
    alone(transform_.scale == 1.0, "scale");
    alone(transform_.mean.empty(), "mean");
    alone(transform_.stddev.empty(), "stddev");
    alone(!transform_.layout, "layout");
    alone(!transform_.to_layout, "to_layout");
    alone(transform_.flip == 0.0, "flip");
    alone(!transform_.crop, "crop");
    alone(computed_.empty(), computed_);
  }

  void check_numbers() const {
    const auto finite = [&](const std::string& member, double value) {
      if (!std::isfinite(value)) refuse(member + " is " + text_of(value), "say a finite number");
    };
    finite("scale", transform_.scale);
    for (std::size_t i = 0; i < transform_.mean.size(); ++i)
      finite(element_of("mean", i), transform_.mean[i]);
    for (std::size_t i = 0; i < transform_.stddev.size(); ++i) {
      const double value = transform_.stddev[i];
      if (!std::isfinite(value) || value <= 0.0)
        refuse(element_of("stddev", i) + " is " + text_of(value),
               "values are divided by it, say a finite number above 0");
    }
    if (!(transform_.flip >= 0.0 && transform_.flip <= 1.0))
      refuse("flip is " + text_of(transform_.flip), "it is a probability, say 0 to 1");
  }

  /// Elements of a row are counted in 32 bits.
  void check_elements() const {
    if (sample_bytes(field_) / size_bytes(field_.type) > most)
      refuse("the field is " + to_string(field_),
             "a sample of at most " + text_of(most) + " elements can be transformed");
  }

  void check_layout() const {
    if (transform_.layout) {
      if (field_.shape.size() != 2 && field_.shape.size() != 3)
        refuse("layout is set and the field is " + to_string(field_),
               "an image has two extents, {height, width}, or three, with channels");
      return;
    }
    const auto needs_layout = [&](bool is_default, std::string_view member) {
      if (!is_default)
        refuse(std::string{member} + " is set and layout is not",
               "say how the field's shape is an image, image_layout::hwc or chw");
    };
    needs_layout(!transform_.to_layout, "to_layout");
    needs_layout(transform_.flip == 0.0, "flip");
    needs_layout(!transform_.crop, "crop");
    needs_layout(computed_.empty(), computed_);
  }

  void check_counts(const std::string& member, std::size_t count) const {
    if (count <= 1) return;
    const std::string what = member + " has " + text_of(std::uint64_t{count}) + " values";
    if (!transform_.layout)
      refuse(what + " and layout is not set",
             "say which of the shape's extents are channels, image_layout::hwc or chw, or one "
             "value for all");
    const std::uint64_t stored = extents_of(field_, transform_).channels;
    const std::uint64_t channels = operations::channels_after(transform_, stored);
    if (count != channels)
      refuse(what + " and the field, " + to_string(field_) + ", has " + text_of(channels) +
                 (channels == 1 ? " channel" : " channels") +
                 (channels == stored ? "" : " in batches"),
             "say one value for each, or one for all");
    if (count > field_conversion::max_channels)
      refuse(what, "each channel can have its own up to " +
                       text_of(std::uint64_t{field_conversion::max_channels}) +
                       " channels; say one for all");
  }

  /// The device's factors and summands have 32 bits.
  void check_quotients() const {
    const std::vector<double>& mean = transform_.mean;
    const std::vector<double>& stddev = transform_.stddev;
    const auto in_range = [&](std::string what, double value, std::size_t channel) {
      if (!stddev.empty()) {
        const std::size_t place = stddev.size() == 1 ? 0 : channel;
        what += " / " + element_of("stddev", place);
        value /= stddev[place];
      }
      if (std::abs(value) > double{std::numeric_limits<float>::max()})
        refuse(what + " is " + text_of(value), "that is beyond a float32, 3.4e38");
    };
    for (std::size_t c = 0; c < std::max<std::size_t>(1, stddev.size()); ++c)
      in_range("scale", transform_.scale, c);
    for (std::size_t c = 0; c < std::max(mean.size(), stddev.size()) && !mean.empty(); ++c) {
      const std::size_t place = mean.size() == 1 ? 0 : c;
      in_range(element_of("mean", place), mean[place], c);
    }
  }

  const field& field_;
  const field_transform& transform_;
  /// A resize or operation that is set, or empty.
  std::string computed_ = transform_.resize         ? "resize"
                          : transform_.resized_crop ? "resized_crop"
                                                    : operations::name_of_first(transform_);
};

}  // namespace

image_extents extents_of(const field& of, const field_transform& transform) {
  const auto& shape = of.shape;
  if (!transform.layout) return {.width = sample_bytes(of) / size_bytes(of.type)};
  if (shape.size() == 2) return {.channels = 1, .height = shape[0], .width = shape[1]};
  if (transform.layout == image_layout::hwc)
    return {.channels = shape[2], .height = shape[0], .width = shape[1]};
  return {.channels = shape[0], .height = shape[1], .width = shape[2]};
}

void check_transform(const field& of, const field_transform& transform) {
  transform_check{of, transform}.all();
}

}  // namespace feedline::detail
