#pragma once

#include <feedline/dataset/field.hpp>
#include <feedline/device/assembly.hpp>
#include <feedline/transform/field_transform.hpp>

#include <vector>

namespace feedline::detail {

/// What a dataset's fields become in a batch.
struct converted_fields {
  std::vector<field> fields;                  ///< as the batch has them
  std::vector<field_conversion> conversions;  ///< one a field
  bool any = false;                           ///< some field is converted
  bool random = false;                        ///< some program draws
};

/// @param fields A dataset's.
/// @throws usage_error naming the transform's field, the member, its value and what is allowed.
[[nodiscard]] converted_fields convert_fields(const std::vector<field>& fields,
                                              const std::vector<field_transform>& transforms);

}  // namespace feedline::detail
