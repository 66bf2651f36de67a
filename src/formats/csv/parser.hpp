#pragma once

#include "formats/csv/cells.hpp"
#include "formats/table/column_survey.hpp"
#include "formats/table/table_value.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace feedline::detail {

/// Takes records of so many columns apart, to find out what they have.
[[nodiscard]] table_parser_ptr make_csv_survey_parser(std::size_t columns, csv_syntax syntax,
                                                      std::vector<std::string> missing);
/// Takes records apart for the fields of a plan.
[[nodiscard]] table_parser_ptr make_csv_parser(const table_plan& plan, csv_syntax syntax,
                                               std::vector<std::string> missing);

}  // namespace feedline::detail
