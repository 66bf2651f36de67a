#pragma once

#include "formats/parquet/schema.hpp"
#include "ragged/padding.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <arrow/type_fwd.h>

namespace feedline::detail {

/// A column of a row group, decoded. Constant once made.
struct parquet_values {
  std::uint64_t rows = 0;
  /// Values of one size: row after row; else null.
  const std::byte* fixed = nullptr;
  /// Values of other columns, one a row.
  std::vector<std::span<const std::byte>> runs = {};
  /// Whether a row cannot be read because it is null or holds a null; empty: none is.
  std::vector<bool> lost = {};
  std::size_t bytes = 0;  ///< memory that it takes
  std::vector<std::shared_ptr<const void>> owners = {};

  [[nodiscard]] bool is_lost(std::uint64_t row) const noexcept {
    return !lost.empty() && lost[row];
  }
};

/// Converts what Arrow has decoded.
/// @param fill Replaces nulls; empty: rows with one are lost.
/// @throws dataset_error without a location, if the arrays are not of the column.
[[nodiscard]] parquet_values convert_values(const arrow::ChunkedArray& arrays,
                                            const parquet_column& of,
                                            const std::optional<padding>& fill);

}  // namespace feedline::detail
