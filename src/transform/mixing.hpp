#pragma once

#include <feedline/backend/mixing.hpp>
#include <feedline/transform/field_transform.hpp>
#include <feedline/transform/mixing.hpp>

#include "transform/field_conversions.hpp"

#include <vector>

namespace feedline::detail {

/// Checks everything that can be checked without fields.
/// @throws usage_error naming the member, its value and what is allowed.
void check_mixing(const mixing& options);

/// The description of mixing for devices. @param options Checked.
/// @param converted Result of `transforms` for the dataset's fields.
/// @throws usage_error naming the field, and what it should be.
[[nodiscard]] pair_mixing mixing_of(const mixing& options, const converted_fields& converted,
                                    const std::vector<field_transform>& transforms);

}  // namespace feedline::detail
