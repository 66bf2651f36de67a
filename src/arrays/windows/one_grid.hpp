#pragma once

#include "arrays/windows/plan.hpp"

#include <vector>

namespace feedline::detail {

/// Compares the coordinates of the plan's arrays along the windows' axes, and along all axes of
/// arrays that are stacked in one field, except those that become channels.
/// @throws usage_error naming arrays, axis and the coordinates that differ.
void require_one_grid(const window_plan& plan, const std::vector<window_field>& fields);

}  // namespace feedline::detail
