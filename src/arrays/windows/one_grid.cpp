#include "arrays/windows/one_grid.hpp"

#include <feedline/error.hpp>

#include "arrays/coordinates.hpp"

#include <algorithm>
#include <cstddef>
#include <string>

namespace feedline::detail {
namespace {

void require_same_coordinates(const array_spec& a, std::size_t axis_of_a, const array_spec& b,
                              std::size_t axis_of_b, const array_axis& axis) {
  const std::string why = coordinate_difference(a, axis_of_a, b, axis_of_b);
  if (why.empty()) return;
  throw usage_error{"make_windows: arrays " + to_string(a) + " and " + to_string(b) +
                    " have different coordinates along " + to_string(axis) + ": " + why + ". " +
                    coordinate_remedy};
}

/// Compares an array with the first one of its field.
void require_stackable(const window_field& field, const array_spec& first,
                       const window_part& part) {
  const array_spec& spec = part.array->spec();
  for (std::size_t d = 0; d < spec.shape.size(); ++d) {
    const bool is_channel = std::ranges::any_of(
        field.channels, [&](const array_axis& each) { return find_axis(spec, each) == d; });
    if (part.axes[d].window || is_channel) continue;
    const array_axis axis = axis_at(spec, d);
    if (const auto other = find_axis(first, axis))
      require_same_coordinates(first, *other, spec, d, axis);
  }
}

}  // namespace

void require_one_grid(const window_plan& plan, const std::vector<window_field>& fields) {
  for (std::size_t w = 0; w < plan.windows.size(); ++w) {
    const array_spec* first = nullptr;  // has coordinates along the window
    std::size_t axis_of_first = 0;
    for (const window_part& part : plan.parts)
      for (std::size_t d = 0; d < part.axes.size(); ++d) {
        const array_spec& spec = part.array->spec();
        if (part.axes[d].window != w || spec.coordinates.empty() || !spec.coordinates[d]) continue;
        if (first != nullptr) {
          require_same_coordinates(*first, axis_of_first, spec, d, plan.windows[w].axis);
          continue;
        }
        first = &spec;
        axis_of_first = d;
      }
  }
  for (const window_part& part : plan.parts)
    require_stackable(fields[part.field], fields[part.field].arrays.front()->spec(), part);
}

}  // namespace feedline::detail
