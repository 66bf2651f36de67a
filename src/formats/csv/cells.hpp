#pragma once

#include "formats/table/table_value.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace feedline::detail {

/// How cells are written.
struct csv_syntax {
  char separator = ',';
  std::optional<char> quote = '"';
};

/// The cells of a record. The memory is used again for the next record.
class csv_cells {
 public:
  /// @param record With its line's end, and empty lines before it.
  /// @throws dataset_error naming the cell: a quote within it, text after a quote, no closing
  /// quote.
  void split(std::string_view record, const csv_syntax& syntax);

  /// Valid until the next record, as long as the record's memory.
  [[nodiscard]] const std::vector<std::string_view>& all() const noexcept { return cells_; }

 private:
  std::vector<std::string_view> cells_;
  std::string unquoted_;  ///< cells with doubled quotes
};

/// The number that a cell is, if it is one; with its kind, which is `boolean` for truth values.
struct csv_number {
  value_kind kind = value_kind::none;  ///< none: it is no number
  table_number value = {};
};

/// @param takes_zeros Whether a number may have leading zeros.
[[nodiscard]] csv_number number_of_cell(std::string_view cell, bool takes_zeros);

}  // namespace feedline::detail
