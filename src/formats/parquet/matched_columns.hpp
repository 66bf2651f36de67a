#pragma once

#include "formats/parquet/schema.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace feedline::detail {

/// Indices of wanted columns among those of a file. @param names Empty: all that can be fields.
/// @throws usage_error if there is no such column, or it cannot be a field.
[[nodiscard]] std::vector<std::size_t> choose_columns(const parquet_schema& schema,
                                                      const std::string& path,
                                                      const std::vector<std::string>& names);

/// Finds each column in another file's schema. @param all Whether all columns are wanted.
/// Names of classes that a column lacks are set if that file has them.
/// @return Their numbers among the file's own columns.
/// @throws dataset_error if one is missing or of another type; with `all`, if there are others.
[[nodiscard]] std::vector<int> match_columns(std::vector<parquet_column>& columns,
                                             const parquet_schema& schema, const std::string& path,
                                             const std::string& first_path, bool all);

}  // namespace feedline::detail
