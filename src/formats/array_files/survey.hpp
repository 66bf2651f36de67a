#pragma once

#include <feedline/dataset/record_decoder.hpp>

#include "formats/array_files/values.hpp"
#include "formats/left_out.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace feedline::detail {

/// How an array becomes a field.
enum class array_layout : std::uint8_t {
  fixed,
  by_row,    ///< ragged over the first dimension
  by_value,  ///< ragged over all values; with a field of the shape
};

struct array_field {
  std::string array;  ///< its name in files
  array_layout layout = array_layout::fixed;
  std::size_t rank = 0;
  described_field as = {};
};

struct array_survey {
  std::vector<array_field> fields;
  std::vector<left_out_field> left_out;
};

/// Looks at files that are spread evenly over all. @throws dataset_error if one cannot be opened,
/// or no array can be a field.
[[nodiscard]] array_survey survey_arrays(const sample_files& files, std::size_t looked_at);

/// Decodes files to these fields, with that of the shape after a field by value.
[[nodiscard]] record_decoder_ptr make_array_file_decoder(std::vector<array_field> fields);

}  // namespace feedline::detail
