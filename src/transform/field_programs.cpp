#include "transform/field_programs.hpp"

#include <feedline/error.hpp>

#include "transform/field_transform_check.hpp"

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

/// (value × scale − mean) ÷ deviation, as a product and a sum. No mean is an offset of −0: then a
/// value of −0 stays what it is.
void set_affine(field_program& program, const field_transform& transform) {
  program.per_channel = transform.mean.size() > 1 || transform.deviation.size() > 1;
  const std::size_t values = program.per_channel ? program.channels : 1;
  for (std::size_t c = 0; c < values; ++c) {
    const double deviation = of_channel(transform.deviation, c, 1.0);
    program.scale[c] = static_cast<float>(transform.scale / deviation);
    program.offset[c] = static_cast<float>(-of_channel(transform.mean, c, 0.0) / deviation);
  }
}

field_program program_of(const field& of, const field_transform& transform) {
  field_program program;
  program.from = of.type;
  program.to = transform.to;
  if (transform.one_hot != 0) {
    program.what = field_program::operation::one_hot;
    program.classes = narrow(transform.one_hot);
    return program;
  }
  program.what = field_program::operation::convert;
  const image_extents image = extents_of(of, transform);
  program.channels = narrow(image.channels);
  program.height = program.to_height = narrow(image.height);
  program.width = program.to_width = narrow(image.width);
  program.channels_last = transform.layout == image_layout::hwc;
  program.to_channels_last =
      transform.to_layout ? transform.to_layout == image_layout::hwc : program.channels_last;
  if (transform.crop) {
    const image_crop& crop = *transform.crop;
    program.to_height = narrow(crop.height);
    program.to_width = narrow(crop.width);
    program.padding = narrow(crop.padding);
    const bool one_place = crop.height == image.height + 2 * crop.padding &&
                           crop.width == image.width + 2 * crop.padding;
    program.random_crop = crop.random && !one_place;
  }
  constexpr double draws = 4294967296.0;  // 2^32: at a probability of 1, each is below
  program.flip_below = static_cast<std::uint64_t>(std::llround(transform.flip * draws));
  set_affine(program, transform);
  return program;
}

std::vector<std::uint64_t> shape_of(const field& of, const field_transform& transform,
                                    const field_program& program) {
  if (program.what == field_program::operation::one_hot) return {program.classes};
  if (!transform.layout) return of.shape;
  if (of.shape.size() == 2) return {program.to_height, program.to_width};
  if (program.to_channels_last) return {program.to_height, program.to_width, program.channels};
  return {program.channels, program.to_height, program.to_width};
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

}  // namespace

converted_fields convert_fields(const std::vector<field>& fields,
                                const std::vector<field_transform>& transforms) {
  converted_fields converted;
  converted.fields = fields;
  for (const field& each : fields) {
    field_program copy;
    copy.from = copy.to = each.type;
    converted.programs.push_back(copy);
  }
  for (const field_transform& transform : transforms) {
    const std::size_t place = place_of(fields, transform.field);
    field_program& program = converted.programs[place];
    if (program.what != field_program::operation::copy)
      throw usage_error{"transform of field '" + transform.field +
                        "': there are two for this field; say all of it in one"};
    check_transform(fields[place], transform);
    program = program_of(fields[place], transform);
    converted.fields[place].type = transform.to;
    converted.fields[place].shape = shape_of(fields[place], transform, program);
    converted.any = true;
    converted.random = converted.random || program.random_crop || program.flip_below != 0;
  }
  return converted;
}

}  // namespace feedline::detail
