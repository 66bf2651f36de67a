#pragma once

#include <feedline/dataset/record_decoder.hpp>

#include "formats/table/column_survey.hpp"
#include "formats/table/table_value.hpp"

namespace feedline::detail {

/// Decodes the records of a table to the fields of a plan.
/// @throws usage_error if names of classes do not suit.
[[nodiscard]] record_decoder_ptr make_table_decoder(table_parser_ptr by, table_plan plan);

}  // namespace feedline::detail
