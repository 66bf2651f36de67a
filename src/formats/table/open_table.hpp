#pragma once

#include <feedline/formats/columns.hpp>
#include <feedline/formats/open.hpp>
#include <feedline/ragged/dataset.hpp>

#include "formats/table/column_survey.hpp"
#include "formats/table/line_values.hpp"
#include "formats/table/table_value.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace feedline::detail {

/// Columns that become one field together.
struct column_groups {
  std::vector<std::string> names = {};                     ///< names of the fields
  std::vector<std::optional<std::size_t>> of_column = {};  ///< empty: no column is in a group
};

/// A table whose fields were chosen.
struct opened_table {
  line_values_ptr records;
  table_parser_ptr by;
  table_plan plan;
};

/// Chooses the fields of a table. @param who Begins messages: "open_csv".
/// @param names Distinct names of the columns.
/// @throws usage_error if an option names a column that does not exist, or that cannot be a field;
/// dataset_error if there is no field, or more than 4,096.
[[nodiscard]] table_plan plan_table(std::string_view who, const line_values& records,
                                    std::vector<std::string> names, const table_survey& survey,
                                    const table_options& options, const column_groups& groups = {});

/// @throws as `open_csv`.
[[nodiscard]] dataset_ptr make_table_dataset(std::string_view who, opened_table of,
                                             const table_options& options);
[[nodiscard]] ragged_dataset_ptr make_table_ragged(opened_table of, const std::string& field);
[[nodiscard]] std::vector<listed_field> list_table(opened_table of);

/// Opens the files of patterns. @throws usage_error if there is none.
[[nodiscard]] std::vector<byte_file_ptr> open_text_files(std::string_view who,
                                                         const std::vector<std::string>& patterns);

/// The options of `open` that tables use.
[[nodiscard]] table_options table_options_of(const open_options& options);

}  // namespace feedline::detail
