#include "arrays/windows/plan.hpp"

#include <feedline/error.hpp>

#include "arrays/box_list.hpp"
#include "arrays/windows/one_grid.hpp"
#include "arrays/windows/regions.hpp"
#include "dataset/choose_fields.hpp"
#include "detail/arithmetic.hpp"
#include "detail/known_value.hpp"

#include <algorithm>
#include <limits>
#include <set>
#include <string>
#include <utility>

namespace feedline::detail {
namespace {

[[noreturn]] void refuse(const std::string& why) {
  throw usage_error{"make_windows: " + why};
}

/// A field's windows before the layout of its samples: for each array, its axes.
struct drafted_field {
  std::vector<std::vector<part_axis>> arrays;
  std::vector<std::vector<bool>> is_channel;
};

void check_windows(const std::vector<window>& windows) {
  if (windows.empty()) refuse("there is no window; window{\"time\"} makes a sample of each index");
  for (const window& each : windows) {
    require_known("window::position", each.position, {"grid", "random"});
    require_known("window::edges", each.edges, {"drop", "pad", "reflect"});
    if (std::ranges::count(windows, each.axis, &window::axis) > 1)
      refuse("two windows are along " + to_string(each.axis) + "; make one of them");
  }
}

/// The field's own window along an axis, or nothing.
const field_window* own_window(const window_field& field, const array_axis& axis) {
  const auto found = std::ranges::find(field.windows, axis, &field_window::axis);
  return found == field.windows.end() ? nullptr : &*found;
}

part_axis draft_axis(const window_field& field, const window& along, std::size_t number,
                     const array_spec& array) {
  const field_window* const own = own_window(field, along.axis);
  part_axis axis{.window = number,
                 .offset = own != nullptr ? own->offset : 0,
                 .count = own != nullptr ? own->size.value_or(along.size) : along.size,
                 .step = own != nullptr ? own->step.value_or(along.step) : along.step};
  const std::string where = "of field '" + field.name + "' along " + to_string(along.axis) +
                            " of array " + to_string(array);
  if (axis.count == 0) refuse("the window " + where + " has size 0; the least is 1");
  if (axis.step == 0) refuse("the step " + where + " is 0; 1 takes consecutive elements");
  if (axis.count == 1) axis.step = 1;            // it has no other element, and may be any number
  constexpr auto most = std::uint64_t{1} << 60;  // sums of some of these fit in 63 bits
  const auto spanned = checked_multiply(axis.count - 1, axis.step);
  if (!spanned || *spanned > most || axis.offset > static_cast<std::int64_t>(most) ||
      axis.offset < -static_cast<std::int64_t>(most))
    refuse("the window " + where + ", of size " + std::to_string(axis.count) + ", step " +
           std::to_string(axis.step) + ", offset " + std::to_string(axis.offset) +
           ", is larger than any array");
  if (!along.keep_axis && axis.count != 1)
    refuse("the window " + where + " has size " + std::to_string(axis.count) +
           ", but keep_axis is false, which requires 1");
  return axis;
}

drafted_field draft_field(const window_field& field, const std::vector<window>& windows) {
  if (field.arrays.empty()) refuse("field '" + field.name + "' has no array");
  for (const field_window& own : field.windows)
    if (std::ranges::count(windows, own.axis, &window::axis) == 0)
      refuse("field '" + field.name + "' has a window along " + to_string(own.axis) +
             ", but the samples have none there; give the axis as there, by name or number");
  drafted_field drafted;
  std::vector<bool> is_used(windows.size(), false);
  for (const array_ptr& array : field.arrays) {
    if (!array) refuse("an array of field '" + field.name + "' is null");
    const array_spec& spec = array->spec();
    std::vector<part_axis> axes;
    for (const std::uint64_t extent : spec.shape) axes.push_back({.count = extent});
    for (std::size_t w = 0; w < windows.size(); ++w) {
      const auto position = find_axis(spec, windows[w].axis);
      if (!position && windows[w].axis.name.empty())
        refuse(
            "array " + to_string(spec) + " of field '" + field.name + "' has no " +
            to_string(windows[w].axis) +
            "; if it is the same at all positions there, name the dimensions by rename_array, and "
            "give the window's axis by name");
      if (!position) continue;
      if (axes[*position].window)
        refuse(to_string(windows[w].axis) + " and " +
               to_string(windows[*axes[*position].window].axis) + " are one axis of array " +
               to_string(spec));
      axes[*position] = draft_axis(field, windows[w], w, spec);
      is_used[w] = true;
    }
    std::vector<bool> is_channel(axes.size(), false);
    for (const array_axis& each : field.channels)
      if (const auto position = find_axis(spec, each)) is_channel[*position] = true;
    drafted.arrays.push_back(std::move(axes));
    drafted.is_channel.push_back(std::move(is_channel));
  }
  for (const field_window& own : field.windows)
    for (std::size_t w = 0; w < windows.size(); ++w)
      if (windows[w].axis == own.axis && !is_used[w])
        refuse("no array of field '" + field.name + "' has " + to_string(own.axis));
  for (const array_axis& each : field.channels)
    if (std::ranges::none_of(field.arrays, [&](const array_ptr& array) {
          return find_axis(array->spec(), each).has_value();
        }))
      refuse("no array of field '" + field.name + "' has " + to_string(each) +
             ", which is to be its channels");
  return drafted;
}

/// Lays out a field's samples: sets the strides of its parts.
field lay_out(const window_field& wanted, const std::vector<window>& windows,
              drafted_field& drafted, std::vector<std::size_t>& first_bytes) {
  const array_spec& first = wanted.arrays.front()->spec();
  const auto is_kept = [&](std::size_t array, std::size_t d) {
    const part_axis& axis = drafted.arrays[array][d];
    return !drafted.is_channel[array][d] && (!axis.window || windows[*axis.window].keep_axis);
  };
  std::vector<std::uint64_t> shape;
  std::vector<std::uint64_t> channels;
  for (std::size_t a = 0; a < wanted.arrays.size(); ++a) {
    const array_spec& spec = wanted.arrays[a]->spec();
    if (spec.type != first.type)
      refuse("arrays " + to_string(first) + " and " + to_string(spec) + " of field '" +
             wanted.name + "' have different types; convert them by unpack, with a type");
    std::vector<std::uint64_t> own;
    std::uint64_t count = 1;
    for (std::size_t d = 0; d < spec.shape.size(); ++d)
      if (is_kept(a, d))
        own.push_back(drafted.arrays[a][d].count);
      else
        count = checked_multiply(count, drafted.arrays[a][d].count).value_or(0);
    if (a != 0 && own != shape)
      refuse("samples of arrays " + to_string(first) + " and " + to_string(spec) +
             " have different extents, so they cannot be stacked in field '" + wanted.name +
             "'; make it two fields");
    shape = std::move(own);
    channels.push_back(count);
  }
  const bool has_channels = wanted.arrays.size() > 1 || !wanted.channels.empty();
  if (has_channels) {
    if (wanted.channel_axis > shape.size())
      refuse("channel_axis of field '" + wanted.name + "' is " +
             std::to_string(wanted.channel_axis) + ", but its samples have " +
             std::to_string(shape.size()) + " other axes");
    std::uint64_t all = 0;
    for (const std::uint64_t count : channels)
      if (count == 0 || __builtin_add_overflow(all, count, &all))
        refuse("field '" + wanted.name + "' has more channels than 64 bits count");
    shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(wanted.channel_axis), all);
  }
  field made{wanted.name, first.type, shape};
  if (sample_bytes(made) > static_cast<std::size_t>(std::numeric_limits<std::ptrdiff_t>::max()))
    refuse("a sample of field '" + wanted.name + "' has more bytes than 63 bits can count");
  const auto strides = dense_strides(shape, size_bytes(first.type));
  std::size_t channel = 0;
  for (std::size_t a = 0; a < wanted.arrays.size(); ++a) {
    auto& axes = drafted.arrays[a];
    const std::ptrdiff_t channel_stride = has_channels ? strides[wanted.channel_axis] : 0;
    first_bytes.push_back(channel * static_cast<std::size_t>(channel_stride));
    channel += channels[a];
    std::size_t kept = 0;
    for (std::size_t d = 0; d < axes.size(); ++d)
      if (is_kept(a, d)) {
        if (has_channels && kept == wanted.channel_axis) ++kept;
        axes[d].stride = strides[kept++];
      }
    std::ptrdiff_t stride = channel_stride;
    for (std::size_t d = axes.size(); d-- > 0;)
      if (drafted.is_channel[a][d]) {
        axes[d].stride = stride;
        stride *= static_cast<std::ptrdiff_t>(axes[d].count);
      }
  }
  return made;
}

/// How far fields reach along a window, and the extent that all arrays have there.
window_positions positions_along(const window_plan& plan, std::size_t number) {
  const window& along = plan.windows[number];
  const window_part* known = nullptr;
  std::uint64_t extent = 0;
  window_reach reach;
  for (const window_part& part : plan.parts)
    for (std::size_t d = 0; d < part.axes.size(); ++d) {
      const part_axis& axis = part.axes[d];
      if (axis.window != number) continue;
      const array_spec& spec = part.array->spec();
      const std::int64_t last =
          axis.offset + static_cast<std::int64_t>((axis.count - 1) * axis.step);
      if (known == nullptr) {
        extent = spec.shape[d];
        reach = {axis.offset, last};
        known = &part;
      } else if (extent != spec.shape[d]) {
        refuse("arrays " + to_string(known->array->spec()) + " and " + to_string(spec) + " have " +
               std::to_string(extent) + " and " + std::to_string(spec.shape[d]) +
               " elements along " + to_string(along.axis) +
               ", along which the samples lie; all arrays have as many there");
      }
      reach = {std::min(reach.first, axis.offset), std::max(reach.last, last)};
    }
  if (known == nullptr) {
    std::string arrays;
    for (const window_part& part : plan.parts)
      arrays += (arrays.empty() ? "" : "; ") + to_string(part.array->spec());
    refuse("no array has " + to_string(along.axis) + ": " + arrays +
           ". Name dimensions by rename_array, or give the axis as a number");
  }
  return {along, to_string(along.axis) + " of array " + to_string(known->array->spec()), extent,
          reach};
}

}  // namespace

window_plan plan_windows(std::vector<window> windows, const std::vector<window_field>& fields,
                         const window_options& options) {
  check_windows(windows);
  if (options.draws == 0) refuse("draws is 0; 1 makes one sample at each position");
  window_plan plan{.windows = std::move(windows), .draws = options.draws};
  if (fields.empty()) refuse("there is no field");
  for (std::size_t f = 0; f < fields.size(); ++f) {
    drafted_field drafted = draft_field(fields[f], plan.windows);
    std::vector<std::size_t> first_bytes;
    plan.fields.push_back(lay_out(fields[f], plan.windows, drafted, first_bytes));
    for (std::size_t a = 0; a < fields[f].arrays.size(); ++a)
      plan.parts.push_back({.array = fields[f].arrays[a],
                            .field = f,
                            .first_byte = first_bytes[a],
                            .axes = std::move(drafted.arrays[a]),
                            .pad = {}});
  }
  require_one_grid(plan, fields);
  plan.field_bytes = checked_row_bytes("make_windows", plan.fields);
  plan.samples = plan.draws;
  for (std::size_t w = 0; w < plan.windows.size(); ++w) {
    plan.positions.push_back(positions_along(plan, w));
    if (plan.windows[w].position == window_position::random) continue;
    plan.samples = checked_multiply(plan.samples, plan.positions.back().count())
                       .value_or(std::numeric_limits<std::uint64_t>::max());
  }
  if (plan.samples > std::uint64_t{1} << 62)
    refuse("there are more samples than 62 bits count; make the strides larger, or draws smaller");
  for (window_part& part : plan.parts)
    if (std::ranges::any_of(part.axes, [&](const part_axis& axis) {
          return axis.window && plan.windows[*axis.window].edges == window_edges::pad;
        }))
      part.pad =
          element_of(fields[part.field].pad, part.array->spec().type, fields[part.field].name);
  std::ranges::stable_sort(plan.parts, {}, [](const window_part& each) {
    return reinterpret_cast<std::uintptr_t>(each.array.get());
  });
  plan.regions = regions_of(plan);
  plan.chunks = chunks_of(plan);
  return plan;
}

}  // namespace feedline::detail
