#pragma once

#include "rows/block_place.hpp"
#include "rows/field_rows.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace feedline::detail {

/// Where a field's rows lie in a file: row i at `offset + i × stride`.
struct row_place {
  std::uint64_t offset = 0;
  std::uint64_t stride = 0;  ///< in bytes; less than `row_bytes` where rows overlap
  std::size_t row_bytes = 0;
  /// Size of the elements whose bytes are to be reversed: 2, 4, 8; 1: none.
  std::size_t swapped_bytes = 1;
  /// Number of equal parts of a row; `stride` is the distance from one part to the next, through
  /// all rows.
  std::size_t parts = 1;
};

/// Where blocks of rows begin, which may lie anywhere in a file.
struct row_blocks {
  static constexpr std::uint64_t nowhere = ~std::uint64_t{0};

  /// `nowhere`: the block was never written.
  std::shared_ptr<const std::vector<std::uint64_t>> begins = nullptr;
  std::uint64_t rows_per_block = 1;
  /// The content of rows that were never written, repeated: whole elements, as in memory.
  std::vector<std::byte> fill = {};
};

/// Rows of one field that lie in a file at equal distances, all of them or those of each block.
class file_rows : public field_rows {
 public:
  /// @param field  Names it in errors.
  /// @param blocks All within the file; `place` counts from their beginnings. None: the rows are
  ///               one block, from the file's first byte on, which may not lie within the file:
  /// @throws dataset_error naming the file's size, and what it should be.
  file_rows(byte_file_ptr file, std::string field, row_place place, std::uint64_t rows,
            row_blocks blocks = {});

  void read(std::span<const sample_index> samples, std::byte* out) const override;
  /// Hints in the order of the file, joining ranges that are near each other.
  void prefetch(std::span<const sample_index> samples) const noexcept final;

 private:
  [[nodiscard]] std::uint64_t offset_of(sample_index sample) const noexcept;
  [[nodiscard]] std::size_t part_bytes() const noexcept { return place_.row_bytes / place_.parts; }
  [[nodiscard]] std::size_t consecutive(std::span<const sample_index> samples) const noexcept;
  void copy_parts(const std::byte* mapped, std::span<const sample_index> samples,
                  std::byte* out) const;
  void read_runs(std::span<const sample_index> samples, std::byte* out) const;
  void read_run(sample_index first, std::uint64_t offset, std::span<std::byte> out) const;
  void gather(const std::byte* file, std::span<const sample_index> samples, std::byte* out) const;

  [[nodiscard]] const byte_file& file() const noexcept { return *extent().file; }

  std::string field_;
  row_place place_;
  row_blocks blocks_;
  block_place in_blocks_;
  std::size_t parts_per_read_;
};

}  // namespace feedline::detail
