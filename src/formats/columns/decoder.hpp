#pragma once

#include <feedline/dataset/record_decoder.hpp>

#include "formats/columns/survey.hpp"

#include <vector>

namespace feedline::detail {

/// Decodes the columns of records to these fields.
[[nodiscard]] record_decoder_ptr make_columns_decoder(record_layout layout,
                                                      std::vector<column_field> fields);

}  // namespace feedline::detail
