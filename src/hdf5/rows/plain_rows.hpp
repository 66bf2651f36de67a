#pragma once

#include "hdf5/format/chunk_map.hpp"
#include "hdf5/library/library_dataset.hpp"
#include "hdf5/library/storage.hpp"
#include "hdf5/rows/blocks.hpp"
#include "rows/file_rows.hpp"
#include "rows/gather.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace feedline::detail {

/// A column that is used outside of any session: each call makes its own, so one thread at a time
/// reads. It may be closed within one, too.
struct hdf5_close_column {
  void operator()(const hdf5_library_dataset* column) const {
    std::optional<hdf5_session> hdf5;
    if (!hdf5_session::is_held()) hdf5.emplace();
    delete column;
  }
};
using hdf5_library_column = std::unique_ptr<const hdf5_library_dataset, hdf5_close_column>;

/// Offsets of chunks whose rows are read one by one: they are stored without filters, and do not
/// split rows.
using hdf5_row_chunks = std::shared_ptr<const std::vector<std::uint64_t>>;

/// Whether a dataset has such chunks.
[[nodiscard]] bool has_row_chunks(const hdf5_storage_layout& place,
                                  std::span<const std::uint64_t> extents);

/// @throws hdf5_error if a chunk's size in the file is not that of its rows.
[[nodiscard]] hdf5_row_chunks find_row_chunks(const byte_file& file, const std::string& name,
                                              const hdf5_storage_layout& place,
                                              const hdf5_chunk_map& map);

/// Rows that are read directly from the file: the dataset is contiguous, or has chunks without
/// filters that do not split rows. If they are records, one member is read.
class hdf5_file_rows final : public file_rows {
 public:
  /// @param name Name of the dataset, for errors. @param elements Number of elements in a row.
  /// @param chunks Result of `find_row_chunks`; null for the contiguous layout.
  /// @throws hdf5_error if they are not within the file.
  hdf5_file_rows(byte_file_ptr file, std::string name, const hdf5_storage_layout& place,
                 std::size_t elements, std::uint64_t rows, hdf5_row_chunks chunks = nullptr);

  void read(std::span<const sample_index> samples, std::byte* out) const override;
};

/// Rows that the library reads when they are requested.
class hdf5_library_rows final : public field_rows {
 public:
  hdf5_library_rows(row_extent extent, hdf5_library_column column)
      : field_rows{std::move(extent)}, column_{std::move(column)} {}

  void read(std::span<const sample_index> samples, std::byte* out) const override {
    const hdf5_session hdf5;
    column_->read(hdf5, samples, out);
  }

 private:
  hdf5_library_column column_;
};

/// Blocks that the library reads whole: a chunk that it must decode is decoded once for all its
/// rows.
class hdf5_library_blocks final : public decoded_blocks {
 public:
  /// @param rows_per_block Rows of a chunk.
  hdf5_library_blocks(hdf5_library_column column, std::uint64_t rows_per_block)
      : column_{std::move(column)}, rows_per_block_{rows_per_block} {}

  void read(std::uint64_t block, std::span<std::byte> out) const override {
    const std::uint64_t first = block * rows_per_block_;
    const hdf5_session hdf5;
    column_->read_run(hdf5, first, std::min(rows_per_block_, column_->samples() - first),
                      out.data());
  }
  [[noreturn]] void fail(const dataset_error& failure, std::uint64_t sample) const override {
    throw_as_hdf5_error(failure, sample);
  }

 private:
  hdf5_library_column column_;
  std::uint64_t rows_per_block_;
};

/// Rows of a dataset that was never written: all have the fill value.
class hdf5_unwritten_rows final : public field_rows {
 public:
  /// @param fill Its size divides a row's.
  hdf5_unwritten_rows(row_extent extent, std::vector<std::byte> fill)
      : field_rows{std::move(extent)}, fill_{std::move(fill)} {}

  void read(std::span<const sample_index> samples, std::byte* out) const override {
    repeat_element(fill_, {out, samples.size() * row_bytes()});
  }

 private:
  std::vector<std::byte> fill_;
};

}  // namespace feedline::detail
