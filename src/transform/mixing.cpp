#include "transform/mixing.hpp"

#include <feedline/error.hpp>

#include "detail/text.hpp"
#include "transform/operations/draws.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>

namespace feedline::detail {
namespace {

constexpr double least_alpha = 0.001;
constexpr double max_alpha = 1000;
constexpr std::uint64_t max_mixed_elements = std::numeric_limits<std::uint32_t>::max();

[[noreturn]] void refuse(const std::string& what, const std::string& allowed) {
  throw usage_error{"loader_options::mixing." + what + ": " + allowed};
}

/// Draws below which a box is cut.
std::uint64_t cut_below(const mixing& options) {
  if (options.mixup_alpha == 0) return draw_bound(1);
  return options.cutmix_alpha == 0 ? 0 : draw_bound(options.cutmix_share);
}

float inverse(double alpha) {
  return alpha == 0 ? 1.0F : static_cast<float>(1 / alpha);
}

/// The index of a field to be mixed. @param what "image is 'x'", for messages.
/// @param remedy A transform that makes such a field.
std::size_t place_of(const std::string& name, const std::string& member,
                     const converted_fields& converted, const std::string& remedy) {
  const auto& fields = converted.fields;
  const std::string what = member + " is '" + name + "'";
  const auto found = std::find_if(fields.begin(), fields.end(),
                                  [&](const field& each) { return each.name == name; });
  if (found == fields.end()) {
    std::string known;
    for (const field& each : fields) known += (known.empty() ? "'" : ", '") + each.name + "'";
    refuse(what, "there is no such field; the dataset has " + known);
  }
  if (found->type != element_type::f32 && found->type != element_type::f16 &&
      found->type != element_type::bf16)
    refuse(what + " and the field is " + to_string(*found) + " in batches",
           "float32, float16 and bfloat16 are mixed, " + remedy);
  if (sample_bytes(*found) / size_bytes(found->type) > max_mixed_elements)
    refuse(what + " and the field is " + to_string(*found) + " in batches",
           "a sample of at most " + std::to_string(max_mixed_elements) + " elements can be mixed");
  return static_cast<std::size_t>(found - fields.begin());
}

/// Sets which elements are lines and columns. If the user does not say, and no box is cut, all are
/// one line.
void set_extents(pair_mixing& to, const mixing& options, const converted_fields& converted,
                 const std::vector<field_transform>& transforms) {
  const field& image = converted.fields[to.image];
  const auto transform =
      std::find_if(transforms.begin(), transforms.end(),
                   [&](const field_transform& each) { return each.field == options.image; });
  if (transform != transforms.end() && transform->layout) {
    const field_conversion& conversion = converted.conversions[to.image];
    to.height = conversion.to_height;
    to.width = conversion.to_width;
    if (conversion.to_channels_last) to.pixel_elements = conversion.to_channels();
  } else if (image.shape.size() == 2) {
    to.height = static_cast<std::uint32_t>(image.shape[0]);
    to.width = static_cast<std::uint32_t>(image.shape[1]);
  } else if (options.cutmix_alpha == 0) {
    to.width = static_cast<std::uint32_t>(sample_bytes(image) / size_bytes(image.type));
  } else {
    refuse("cutmix_alpha is " + text_of(options.cutmix_alpha) + " and the image is " +
               to_string(image) + " with no layout",
           "a box needs height and width, say by a transform of the field which extents these "
           "are, .layout = image_layout::hwc or chw");
  }
}

}  // namespace

void check_mixing(const mixing& options) {
  if (options.image.empty()) refuse("image is empty", "name the field that holds images");
  if (options.label == options.image)
    refuse("label is '" + options.label + "', as image is", "name another field, or none");
  const auto in_range = [&](const std::string& member, double value, double low, double high,
                            const std::string& allowed) {
    if (!(value >= low && value <= high)) refuse(member + " is " + text_of(value), allowed);
  };
  const auto check_alpha = [&](const std::string& member, double alpha) {
    if (alpha != 0)
      in_range(member, alpha, least_alpha, max_alpha,
               "say " + text_of(least_alpha) + " to " + text_of(max_alpha) +
                   ", of Beta(alpha, alpha), or 0 to leave it out");
  };
  check_alpha("mixup_alpha", options.mixup_alpha);
  check_alpha("cutmix_alpha", options.cutmix_alpha);
  if (options.mixup_alpha == 0 && options.cutmix_alpha == 0)
    refuse("mixup_alpha and cutmix_alpha are 0", "set one of them, or leave mixing out");
  in_range("probability", options.probability, 0, 1, "say 0 to 1");
  in_range("cutmix_share", options.cutmix_share, 0, 1, "say 0 to 1");
  if (options.draws > mixing_draws::sample)
    refuse("draws is " + std::to_string(static_cast<int>(options.draws)),
           "say mixing_draws::batch, pair or sample");
}

pair_mixing mixing_of(const mixing& options, const converted_fields& converted,
                      const std::vector<field_transform>& transforms) {
  pair_mixing to;
  to.image = place_of(options.image, "image", converted,
                      "give it a transform with .to = element_type::f32, or f16 or bf16");
  to.image_type = converted.fields[to.image].type;
  if (!options.label.empty()) {
    to.label = place_of(options.label, "label", converted,
                        "give it a transform with .one_hot = the number of classes");
    to.label_type = converted.fields[to.label].type;
  }
  set_extents(to, options, converted, transforms);
  to.mixed_below = draw_bound(options.probability);
  to.cut_below = cut_below(options);
  to.draws = options.draws;
  to.inverse_mixup_alpha = inverse(options.mixup_alpha);
  to.inverse_cutmix_alpha = inverse(options.cutmix_alpha);
  return to;
}

}  // namespace feedline::detail

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

const char* to_string(mixing_draws draws) noexcept {
  switch (draws) {
    case mixing_draws::batch:
      return "batch";
    case mixing_draws::pair:
      return "pair";
    case mixing_draws::sample:
      return "sample";
  }
  return "unknown";
}

std::string to_string(const mixing& options) {
  const mixing none;
  std::string text = "mixing of " + options.image;
  if (!options.label.empty()) text += " and " + options.label;
  std::string separator = ": ";
  const auto add = [&](const std::string& name, double value, double if_none) {
    if (value == if_none) return;
    text += separator + name + ' ' + detail::text_of(value);
    separator = ", ";
  };
  add("mixup", options.mixup_alpha, none.mixup_alpha);
  add("cutmix", options.cutmix_alpha, none.cutmix_alpha);
  add("probability", options.probability, none.probability);
  add("cutmix_share", options.cutmix_share, none.cutmix_share);
  if (options.draws != mixing_draws::sample)
    text += separator + "draws for each " + to_string(options.draws);
  return text;
}

}  // namespace FEEDLINE_ABI
}  // namespace feedline
