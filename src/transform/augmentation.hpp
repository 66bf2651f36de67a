#pragma once

#include <feedline/backend/assembly.hpp>
#include <feedline/transform/field_transform.hpp>

#include "transform/field_conversions.hpp"

#include <string>
#include <string_view>

namespace feedline::detail {

/// The first of a transform's augmentations that is set; empty: none.
[[nodiscard]] std::string_view first_augmentation(const field_transform& transform) noexcept;

/// Checks them. @param transform Otherwise checked, and with a layout if there are any.
/// @throws usage_error naming the field, the member, its value and what is allowed.
void check_augmentation(const field& of, const field_transform& transform);

/// Sets the description of augmentations for devices. @param image Extents in the dataset.
void set_augmentation(field_conversion& conversion, const field_transform& transform,
                      const image_extents& image);

/// The augmentations' part of `to_string`: ", resize 8 x 6", or nothing.
[[nodiscard]] std::string augmentation_text(const field_transform& transform);

}  // namespace feedline::detail
