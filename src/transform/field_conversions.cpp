#include "transform/field_conversions.hpp"

#include <feedline/error.hpp>

#include "transform/mixing.hpp"
#include "transform/operations/operations.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>

namespace feedline::detail {
namespace {

std::uint32_t narrow(std::uint64_t checked) noexcept {
  return static_cast<std::uint32_t>(checked);
}

/// A value for each channel, or one for all.
double of_channel(const std::vector<double>& values, std::size_t channel, double if_none) {
  if (values.empty()) return if_none;
  return values.size() == 1 ? values.front() : values[channel];
}

/// (value × scale − mean) ÷ stddev, as a product and a sum. Without a mean the offset is −0: then a
/// value of −0 stays −0.
void set_affine(field_conversion& conversion, const field_transform& transform) {
  conversion.per_channel = transform.mean.size() > 1 || transform.stddev.size() > 1;
  const std::size_t values = conversion.per_channel ? conversion.to_channels() : 1;
  for (std::size_t c = 0; c < values; ++c) {
    const double stddev = of_channel(transform.stddev, c, 1.0);
    conversion.scale[c] = static_cast<float>(transform.scale / stddev);
    conversion.offset[c] = static_cast<float>(-of_channel(transform.mean, c, 0.0) / stddev);
  }
}

/// The fallback of torchvision's RandomResizedCrop: as much of the image as a ratio allows.
void set_else(field_conversion& to, const value_range& ratio) {
  const double height = to.height;
  const double width = to.width;
  const auto whole = [](double extent, double most) {
    return static_cast<std::uint32_t>(std::clamp(std::round(extent), 1.0, most));
  };
  to.else_height = to.height;
  to.else_width = to.width;
  if (width / height < ratio.low) to.else_height = whole(width / ratio.low, height);
  if (width / height > ratio.high) to.else_width = whole(height * ratio.high, width);
}

/// Sets the window, and the size of the image that is made from it.
void set_window(field_conversion& to, const field_transform& transform) {
  const auto becomes = [&](const auto& size) {
    to.to_height = narrow(size.height);
    to.to_width = narrow(size.width);
  };
  if (transform.crop) {
    const image_crop& crop = *transform.crop;
    becomes(crop);
    to.padding = narrow(crop.padding);
    const bool one_place =
        crop.height == to.height + 2 * crop.padding && crop.width == to.width + 2 * crop.padding;
    to.random_window = crop.random && !one_place;
  }
  to.resizes = transform.resize || transform.resized_crop;
  if (transform.resize) becomes(*transform.resize);
  if (transform.resized_crop) {
    const random_resized_crop& crop = *transform.resized_crop;
    becomes(crop);
    to.random_window = true;
    to.area = crop.scale;
    to.log_ratio = logarithms(crop.ratio);
    set_else(to, crop.ratio);
  }
}

field_conversion conversion_of(const field& of, const field_transform& transform) {
  field_conversion conversion;
  conversion.from = of.type;
  conversion.to = transform.to;
  if (transform.one_hot != 0) {
    conversion.what = field_conversion::operation::one_hot;
    conversion.classes = narrow(transform.one_hot);
    return conversion;
  }
  conversion.what = field_conversion::operation::convert;
  const image_extents image = extents_of(of, transform);
  conversion.channels = narrow(image.channels);
  conversion.height = conversion.to_height = narrow(image.height);
  conversion.width = conversion.to_width = narrow(image.width);
  conversion.channels_last = transform.layout == image_layout::hwc;
  conversion.to_channels_last =
      transform.to_layout ? transform.to_layout == image_layout::hwc : conversion.channels_last;
  set_window(conversion, transform);
  conversion.flip_below = draw_bound(transform.flip);
  conversion.operations = operations::plan(transform, image.channels);
  set_affine(conversion, transform);
  return conversion;
}

std::vector<std::uint64_t> shape_of(const field& of, const field_transform& transform,
                                    const field_conversion& conversion) {
  if (conversion.what == field_conversion::operation::one_hot) return {conversion.classes};
  if (!transform.layout) return of.shape;
  const std::uint64_t channels = conversion.to_channels();
  if (of.shape.size() == 2 && channels == 1) return {conversion.to_height, conversion.to_width};
  if (conversion.to_channels_last) return {conversion.to_height, conversion.to_width, channels};
  return {channels, conversion.to_height, conversion.to_width};
}

std::size_t place_of(const std::vector<field>& fields, const std::string& name) {
  const auto found = std::find_if(fields.begin(), fields.end(),
                                  [&](const field& each) { return each.name == name; });
  if (found != fields.end()) return static_cast<std::size_t>(found - fields.begin());
  std::string known;
  for (const field& each : fields) known += (known.empty() ? "'" : ", '") + each.name + "'";
  throw usage_error{"transform of field '" + name + "': there is no such field; the dataset has " +
                    known};
}

/// Checks that a transform suits images whose size differs from batch to batch: it computes each
/// pixel, or mirrors whole images.
void check_by_batch(const field& of, const field_transform& transform) {
  if (!of.by_batch) return;
  const auto refuse = [&](const std::string& what, const std::string& why) {
    throw usage_error{"transform of field '" + of.name + "': " + what +
                      ", but the size of its images differs from batch to batch: " + why};
  };
  const std::string decoder = "let the decoder cut and resize (image_options)";
  if (transform.one_hot != 0) refuse("one_hot is set", "leave it out");
  if (!transform.layout) refuse("layout is not set", "set the layout of the dataset's field");
  if (of.shape.size() == 3 && *transform.layout != of.by_batch->layout)
    refuse("layout is not the one that its images have", "set the layout of the dataset's field");
  if (transform.crop) refuse("crop is set", decoder);
  if (transform.resize) refuse("resize is set", decoder);
  if (transform.resized_crop) refuse("resized_crop is set", decoder);
  if (!of.by_batch->padded) return;
  const std::string moved =
      "and they are padded on the right and at the bottom, which would move; ";
  if (transform.flip != 0) refuse("flip is set", moved + "set image_options::flip instead");
  if (!operations::name_of_first(transform).empty())
    refuse(operations::name_of_first(transform) + " is set",
           "and they are padded, and operations do not distinguish the padding from the image; "
           "apply it after the loader, where the sizes of the images are known");
}

/// Checks that no transform blends the values of masks: fields with a tie and two extents.
void check_classes(const std::vector<field>& fields,
                   const std::vector<field_transform>& transforms) {
  for (const field& one : fields) {
    const auto own = std::ranges::find(transforms, one.name, &field_transform::field);
    if (!one.tie || one.tie->flip || one.shape.size() != 2 || own == transforms.end()) continue;
    std::string blends;
    if (own->resize) blends = "resize";
    if (own->resized_crop) blends = "resized_crop";
    if (own->gaussian_blur) blends = "gaussian_blur";
    const auto check_move = [&](const std::string& name, const auto& move) {
      if (move && move->interpolation != decltype(random_affine::interpolation)::nearest)
        blends = name + " with another interpolation than nearest";
    };
    check_move("affine", own->affine);
    check_move("perspective", own->perspective);
    if (!blends.empty())
      throw usage_error{"transform of field '" + one.name + "': it has " + blends +
                        ", which blends values, but they are the classes of a mask: let the "
                        "decoder cut and resize (image_options)"};
  }
}

}  // namespace

converted_fields convert_fields(const std::vector<field>& fields,
                                const std::vector<field_transform>& transforms,
                                const std::optional<mixing>& mixed) {
  converted_fields converted;
  converted.fields = fields;
  for (const field& each : fields) {
    field_conversion copy;
    copy.from = copy.to = each.type;
    converted.conversions.push_back(copy);
  }
  for (const field_transform& transform : transforms) {
    const std::size_t place = place_of(fields, transform.field);
    field_conversion& conversion = converted.conversions[place];
    if (conversion.what != field_conversion::operation::copy)
      throw usage_error{"transform of field '" + transform.field +
                        "': there are two for this field; say all of it in one"};
    check_by_batch(fields[place], transform);
    check_transform(fields[place], transform);
    conversion = conversion_of(fields[place], transform);
    converted.fields[place].type = transform.to;
    converted.fields[place].shape = shape_of(fields[place], transform, conversion);
    if (auto& by_batch = converted.fields[place].by_batch)
      by_batch->layout = transform.to_layout.value_or(*transform.layout);
    converted.any = true;
    converted.random = converted.random || conversion.is_random();
  }
  check_ties(fields, transforms, mixed);
  check_classes(fields, transforms);
  if (mixed) {
    const auto image = std::ranges::find(fields, mixed->image, &field::name);
    if (image != fields.end() && image->by_batch)
      throw usage_error{"mixing: image is '" + mixed->image +
                        "', whose size differs from batch to batch, and such images are not "
                        "mixed: mix the batches that the loader delivers"};
    converted.mixing = mixing_of(*mixed, converted, transforms);
    converted.any = converted.random = true;
  }
  return converted;
}

}  // namespace feedline::detail
