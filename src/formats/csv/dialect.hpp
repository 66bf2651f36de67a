#pragma once

#include <feedline/formats/csv.hpp>

#include "formats/csv/cells.hpp"

#include <string>
#include <vector>

namespace feedline::detail {

/// How a file is written: as options say, or as its first records show.
struct csv_dialect {
  csv_syntax syntax = {};
  bool has_header = false;
  std::vector<std::string> columns = {};  ///< names
};

/// @param records The first records of a file, at least one.
/// @throws dataset_error, without the file: two columns of one name, cells as `csv_cells::split`.
[[nodiscard]] csv_dialect find_dialect(const std::vector<std::string>& records,
                                       const csv_options& options);

/// The names that a header gives to columns: those without a name get their number.
[[nodiscard]] std::vector<std::string> names_of_header(const std::string& record,
                                                       const csv_syntax& syntax);

}  // namespace feedline::detail
