#pragma once

#include <feedline/backend/assembly.hpp>
#include <feedline/dataset/field.hpp>
#include <feedline/transform/field_transform.hpp>
#include <feedline/transform/mixing.hpp>

#include <cstdint>
#include <optional>
#include <vector>

namespace feedline::detail {

/// A dataset's fields as they are in a batch.
struct converted_fields {
  std::vector<field> fields;                  ///< fields of the batch
  std::vector<field_conversion> conversions;  ///< one a field
  std::optional<pair_mixing> mixing = {};     ///< empty: samples are not mixed
  bool any = false;                           ///< some field is converted or mixed
  bool random = false;                        ///< some conversion draws, or the mixing
};

/// @param fields A dataset's. @param mixed Checked (`check_mixing`); empty: samples are not.
/// @throws usage_error naming the transform's field, the member, its value and what is allowed.
[[nodiscard]] converted_fields convert_fields(const std::vector<field>& fields,
                                              const std::vector<field_transform>& transforms,
                                              const std::optional<mixing>& mixed = {});

/// A field's row as an image; a row that is not an image is one line of one channel.
struct image_extents {
  std::uint64_t channels = 1;
  std::uint64_t height = 1;
  std::uint64_t width = 1;
};

/// @param transform With a layout only if the field's shape has two or three extents.
[[nodiscard]] image_extents extents_of(const field& of, const field_transform& transform);

/// Checks that a transform is possible for a field; the resulting field then fits
/// `field_conversion`.
/// @throws usage_error naming the field, the member, its value and what is allowed.
void check_transform(const field& of, const field_transform& transform);

/// Checks that transforms and mixing keep images and what belongs to them together (`field::tie`).
/// @throws usage_error naming both fields, and what differs.
void check_ties(const std::vector<field>& fields, const std::vector<field_transform>& transforms,
                const std::optional<mixing>& mixed);

/// The part of `check_transform` for crop, resize and resized_crop.
/// @param channels The larger number of channels: the dataset's or the batch's.
void check_window(const field& of, const field_transform& transform, std::uint64_t channels);

}  // namespace feedline::detail
