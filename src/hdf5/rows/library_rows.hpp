#pragma once

#include "hdf5/library/library_dataset.hpp"
#include "hdf5/rows/blocks.hpp"
#include "hdf5/rows/rows.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

namespace feedline::detail {

/// A column that is used, and closed, outside of any session: it has one of its own for each call,
/// so one thread at a time reads.
class hdf5_library_column {
 public:
  /// Not within a session.
  explicit hdf5_library_column(hdf5_library_dataset column) : column_{std::move(column)} {}
  hdf5_library_column(const hdf5_library_column&) = delete;
  hdf5_library_column& operator=(const hdf5_library_column&) = delete;
  ~hdf5_library_column() {
    const hdf5_session hdf5;
    column_.reset();
  }

  /// As the column's.
  void read(std::span<const sample_index> samples, std::byte* out) const {
    const hdf5_session hdf5;
    column_->read(hdf5, samples, out);
  }
  void read_run(std::uint64_t first, std::uint64_t count, std::byte* out) const {
    const hdf5_session hdf5;
    column_->read_run(hdf5, first, count, out);
  }

  [[nodiscard]] const hdf5_library_dataset& column() const noexcept { return *column_; }

 private:
  std::optional<hdf5_library_dataset> column_;
};

/// Rows that the library reads, as they are asked for.
class hdf5_library_rows final : public hdf5_rows {
 public:
  explicit hdf5_library_rows(hdf5_library_dataset column) : library_{std::move(column)} {}

  void read(std::span<const sample_index> samples, std::byte* out) const override {
    library_.read(samples, out);
  }

 private:
  hdf5_library_column library_;
};

/// Blocks that the library reads whole: a chunk that it must decode is decoded once for all its
/// rows.
class hdf5_library_blocks final : public hdf5_blocks {
 public:
  /// @param rows_per_block Those of a chunk.
  hdf5_library_blocks(hdf5_library_dataset column, std::uint64_t rows_per_block)
      : library_{std::move(column)}, rows_per_block_{rows_per_block} {}

  std::uint64_t rows_per_block() const noexcept override { return rows_per_block_; }

  void read(std::uint64_t block, std::span<std::byte> out) const override {
    const std::uint64_t first = block * rows_per_block_;
    const std::uint64_t rows =
        std::min(rows_per_block_, library_.column().samples() - first);  // of the last, fewer
    library_.read_run(first, rows, out.data());
  }

 private:
  hdf5_library_column library_;
  std::uint64_t rows_per_block_;
};

}  // namespace feedline::detail
