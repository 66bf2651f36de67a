#pragma once

#include <feedline/dataset/record_decoder.hpp>
#include <feedline/formats/columns.hpp>

#include "formats/left_out.hpp"
#include "formats/table/line_values.hpp"
#include "formats/table/table_value.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace feedline::detail {

/// A field of a table, made of one column or of several.
struct table_field {
  described_field as = {};
  value_kind kind = value_kind::none;  ///< text: bytes of texts, or labels
  bool is_label = false;               ///< values are texts, which are names of classes
  bool counts_classes = false;         ///< values are whole numbers, which count classes
  table_column how = {};
};

/// The field that a column belongs to.
struct column_target {
  std::size_t field = 0;
  std::size_t element = 0;  ///< index in the field's value, if several columns make it
};

/// The fields of a table.
struct table_plan {
  std::vector<table_field> fields = {};
  std::vector<std::string> columns = {};                   ///< names
  std::vector<std::optional<column_target>> targets = {};  ///< for each column
  std::vector<left_out_field> left_out = {};
};

/// A column as the records have it.
struct seen_table_column {
  value_kind kind = value_kind::none;
  bool is_list = false;
  std::vector<std::uint64_t> shape = {};  ///< shape of the first list that is not empty
  bool varies = false;                    ///< lists are of any length
  bool is_large = false;                  ///< a number is more than an int64 holds
  std::size_t records = 0;                ///< number of records with a value
  std::uint64_t first = 0;                ///< a record with a value
  std::optional<std::uint64_t> lacking = std::nullopt;  ///< a record without a value
  std::size_t last = 0;      ///< the last record that was looked at and has it, by its number
  std::string trouble = {};  ///< why it cannot be a field
};

/// The columns of records that are spread evenly over all.
struct table_survey {
  std::vector<seen_table_column> columns;
  std::size_t looked_at = 0;
  bool mixes_texts = false;  ///< see `survey_table`
};

/// @param by May find further columns with each record. @param mixes_texts Whether a column of
/// numbers and texts is one of texts (CSV), not an error.
[[nodiscard]] table_survey survey_table(const line_values& records, const table_parser& by,
                                        std::size_t looked_at, bool mixes_texts);

/// Chooses the field that a column becomes.
/// @param given Options of the column, if it has any.
/// @return Why it is no field; empty: `made` is one.
[[nodiscard]] std::string choose_field(const std::string& name, const seen_table_column& seen,
                                       const table_column* given, const line_values& records,
                                       const table_survey& survey, table_field& made);

}  // namespace feedline::detail
