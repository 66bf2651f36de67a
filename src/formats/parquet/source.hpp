#pragma once

#include "formats/parquet/column_cache.hpp"
#include "formats/parquet/table.hpp"
#include "ragged/coded_values.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace feedline::detail {

/// The rows of Parquet files with the columns of row groups that are kept. Any number of threads.
class parquet_source {
 public:
  /// @param max_bytes Same as `parquet_options::max_host_cache_bytes`.
  parquet_source(parquet_table_ptr table, std::size_t max_bytes);

  [[nodiscard]] const parquet_table& table() const noexcept { return *table_; }
  [[nodiscard]] std::size_t max_bytes() const noexcept { return max_bytes_; }
  [[nodiscard]] bool keeps_all() const noexcept { return cache_.keeps_all(); }

  /// A column of a row group; null: another thread is decoding it.
  /// @param rows How many of its rows the caller reads now.
  [[nodiscard]] parquet_values_ptr find(std::size_t group, std::size_t column,
                                        std::uint64_t rows) const;
  /// Those of several columns of a row group that are decoded; null: it is not, or not yet.
  void find(std::size_t group, std::span<const column_cache::wanted> columns,
            std::span<parquet_values_ptr> found) const;
  /// Returns once no thread is decoding the column.
  void wait(std::size_t group, std::size_t column) const {
    cache_.wait_while_decoding({group, column});
  }
  /// The same as `find`; it waits.
  [[nodiscard]] parquet_values_ptr get(std::size_t group, std::size_t column,
                                       std::uint64_t rows) const;
  /// A column for one pass over all of them: from the cache only if that keeps all.
  [[nodiscard]] parquet_values_ptr get_once(std::size_t group, std::size_t column) const;

  /// Asks for the bytes of the columns that these samples need.
  void prefetch(std::span<const sample_index> samples,
                const std::vector<std::size_t>& columns) const noexcept;

 private:
  parquet_table_ptr table_;
  std::size_t max_bytes_;
  mutable column_cache cache_;
};

using parquet_source_ptr = std::shared_ptr<const parquet_source>;

/// @throws as `open_parquet`.
[[nodiscard]] parquet_source_ptr open_parquet_source(const std::vector<std::string>& patterns,
                                                     const parquet_options& options);

/// A column of bytes as coded values, for devices that decode them.
[[nodiscard]] coded_values_ptr make_parquet_values(parquet_source_ptr of, std::size_t column);

}  // namespace feedline::detail
