#pragma once

#include "formats/parquet/source.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

namespace feedline::detail {

/// A field of the dataset, and the column that it is made of.
struct parquet_field {
  field spec;
  std::size_t column = 0;
  std::size_t bytes = 0;          ///< size of a sample
  decoder_ptr by = nullptr;       ///< decodes the values
  bool is_length = false;         ///< the field is a ragged one's lengths
  std::size_t element_bytes = 0;  ///< ragged
  std::uint64_t limit = 0;        ///< elements of a padded sample
  bool truncates = false;         ///< a longer sample is cut, or an error
  std::shared_ptr<const padding> fill = nullptr;
};

/// A column's field before it is padded.
struct described_column {
  described_field as;
  decoder_ptr by = nullptr;  ///< decodes images
};
/// Describes each column, and finds those of images. @throws as `open_parquet`.
[[nodiscard]] std::vector<described_column> describe_columns(const parquet_table& table,
                                                             const decoder_ptr& image);

/// The fields of a dataset. Finds the longest samples if lengths are not given.
/// @throws as `open_parquet`.
[[nodiscard]] std::vector<parquet_field> make_parquet_fields(const parquet_source& source,
                                                             const parquet_options& options);

/// Number of elements of each sample of a ragged column, row group after row group.
/// @param use Is called by one thread at a time, for row groups in any order.
void count_parquet_elements(
    const parquet_source& source, std::size_t column,
    const std::function<void(std::uint64_t first_row, std::span<const std::uint64_t>)>& use);

}  // namespace feedline::detail
