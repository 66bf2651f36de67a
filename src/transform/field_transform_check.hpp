#pragma once

#include <feedline/dataset/field.hpp>
#include <feedline/transform/field_transform.hpp>

#include <cstdint>

namespace feedline::detail {

/// A field's row as an image; what is no image is one line of one channel.
struct image_extents {
  std::uint64_t channels = 1;
  std::uint64_t height = 1;
  std::uint64_t width = 1;
};

/// @param transform With a layout only if the field's shape has two or three extents.
[[nodiscard]] image_extents extents_of(const field& of, const field_transform& transform);

/// Checks that a transform can be had of a field; what it becomes fits `field_conversion` then.
/// @throws usage_error naming the field, the member, its value and what is allowed.
void check_transform(const field& of, const field_transform& transform);

}  // namespace feedline::detail
