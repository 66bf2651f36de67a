#include <feedline/transform/field_transform.hpp>

#include "detail/text.hpp"
#include "transform/operations/operations.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {
namespace {

std::string list(std::string_view name, const std::vector<double>& values) {
  std::string text;
  for (const double value : values) text += ' ' + detail::text_of(value);
  return text.empty() ? text : ", " + std::string{name} + text;
}

std::string name_of(image_layout layout) {
  return layout == image_layout::hwc ? "hwc" : "chw";
}

/// "8 x 6".
template <class Window>
std::string size(const Window& of) {
  return std::to_string(of.height) + " x " + std::to_string(of.width);
}

}  // namespace

std::string to_string(const field_transform& transform) {
  std::string text = transform.field + ": ";
  text += to_string(transform.to);
  if (transform.scale != 1.0) text += ", scale " + detail::text_of(transform.scale);
  text += list("mean", transform.mean) + list("stddev", transform.stddev);
  if (transform.layout) text += ", layout " + name_of(*transform.layout);
  if (transform.to_layout) text += ", to_layout " + name_of(*transform.to_layout);
  if (transform.flip != 0.0) text += ", flip " + detail::text_of(transform.flip);
  if (transform.crop) {
    const image_crop& crop = *transform.crop;
    text += ", crop " + size(crop) + " padding " + std::to_string(crop.padding) +
            (crop.random ? " random" : " middle");
  }
  if (transform.resize) text += ", resize " + size(*transform.resize);
  if (transform.resized_crop) {
    const random_resized_crop& crop = *transform.resized_crop;
    text += ", resized_crop " + size(crop) + " scale" + detail::range_text(crop.scale) + " ratio" +
            detail::range_text(crop.ratio);
  }
  text += detail::operations::text(transform);
  if (transform.one_hot != 0) text += ", one_hot " + std::to_string(transform.one_hot);
  return text;
}

}  // namespace FEEDLINE_ABI
}  // namespace feedline
