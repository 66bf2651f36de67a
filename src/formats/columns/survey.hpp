#pragma once

#include <feedline/formats/shard_options.hpp>

#include "formats/columns/column.hpp"
#include "formats/left_out.hpp"
#include "ragged/coded_values.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace feedline::detail {

/// A field that is made of a column.
struct column_field {
  std::size_t column = 0;
  described_field as = {};
  decoder_ptr by = nullptr;  ///< decodes each value
};

/// The fields of records.
struct column_survey {
  std::vector<column_field> fields;
  std::vector<left_out_field> left_out;
};

/// Looks at records that are spread evenly over all of them, and chooses fields.
/// @param who Begins messages about options: "open_mds".
/// @throws dataset_error if one is damaged or no field is found; usage_error about
/// `shard_options::columns`.
[[nodiscard]] column_survey survey_columns(std::string_view who, const coded_values& records,
                                           const record_layout& layout,
                                           const shard_options& options);

}  // namespace feedline::detail
