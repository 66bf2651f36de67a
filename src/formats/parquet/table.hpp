#pragma once

#include <feedline/formats/parquet.hpp>

#include "formats/parquet/values.hpp"
#include "io/byte_file.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <parquet/type_fwd.h>

namespace feedline::detail {

/// Parquet files as one sequence of rows: their row groups, and the columns that all of them have.
/// Constant once made; all functions may be called by any number of threads.
class parquet_table {
 public:
  /// @param options `fields` and `fill_nulls` count.
  /// @throws as `open_parquet`.
  parquet_table(std::vector<byte_file_ptr> files, const parquet_options& options);
  ~parquet_table();
  parquet_table(const parquet_table&) = delete;
  parquet_table& operator=(const parquet_table&) = delete;

  /// The columns that were asked for, or all that can be fields.
  [[nodiscard]] const std::vector<parquet_column>& columns() const noexcept { return columns_; }
  [[nodiscard]] const std::vector<left_out_field>& left_out() const noexcept { return left_out_; }

  [[nodiscard]] std::uint64_t size() const noexcept { return ends_.empty() ? 0 : ends_.back(); }
  [[nodiscard]] std::size_t groups() const noexcept { return groups_.size(); }
  /// First row of a row group in the sequence; for the number after the last, `size()`.
  [[nodiscard]] std::uint64_t first_row(std::size_t group) const noexcept {
    return group == 0 ? 0 : ends_[group - 1];
  }
  [[nodiscard]] std::uint64_t rows(std::size_t group) const noexcept {
    return first_row(group + 1) - first_row(group);
  }
  [[nodiscard]] std::size_t group_of(std::uint64_t row) const noexcept;

  /// Bytes that a column of a row group takes in memory, about; its values alone for `value_bytes`.
  [[nodiscard]] std::size_t decoded_bytes(std::size_t group, std::size_t column) const;
  [[nodiscard]] std::size_t value_bytes(std::size_t group, std::size_t column) const;

  /// Reads and decodes a column of a row group.
  /// @throws dataset_error naming file, row group and column; its sample is the first of the group.
  [[nodiscard]] parquet_values read(std::size_t group, std::size_t column) const;
  /// The first value of a column of bytes in a row group, if one of its first rows has one; else
  /// empty. Reads the beginning of the column. @throws as `read`.
  [[nodiscard]] std::vector<std::byte> first_value(std::size_t group, std::size_t column) const;

  /// Throws the error again, with the location of a sample.
  [[noreturn]] void refuse(const dataset_error& fault, std::uint64_t sample,
                           std::size_t column) const;
  /// The error for a row that is lost.
  [[nodiscard]] dataset_error null_error(std::uint64_t sample, std::size_t column) const;

  [[nodiscard]] bool any_is_cold() const noexcept;
  /// Asks for the bytes of columns of a row group to be brought near.
  void will_need(std::size_t group, const std::vector<std::size_t>& columns) const noexcept;

 private:
  struct file;
  struct group {
    std::size_t file;
    int number;  ///< in its file
  };

  [[nodiscard]] std::string group_text(std::size_t of) const;
  [[nodiscard]] int leaf_of(std::size_t group, std::size_t column) const;
  void check_groups() const;

  std::vector<std::unique_ptr<const file>> files_;
  std::vector<parquet_column> columns_;
  std::vector<left_out_field> left_out_;
  std::vector<std::optional<padding>> fills_;  ///< one a column
  std::vector<group> groups_;                  ///< those that have rows
  std::vector<std::uint64_t> ends_;            ///< rows up to the end of each
  std::uint64_t equal_rows_ = 0;               ///< rows of each group but the last; 0: they differ
};

using parquet_table_ptr = std::shared_ptr<const parquet_table>;

/// Opens files by patterns. @throws as `open_parquet`.
[[nodiscard]] parquet_table_ptr open_parquet_table(const std::vector<std::string>& patterns,
                                                   const parquet_options& options);

}  // namespace feedline::detail
