#pragma once

#include <feedline/index.hpp>

#include "io/random_file.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace feedline::detail {

/// Where a field's rows lie in a file: row i at `offset + i × stride`.
struct row_place {
  std::uint64_t offset = 0;
  std::uint64_t stride = 0;  ///< in bytes; less than `row_bytes` where rows overlap
  std::size_t row_bytes = 0;
  std::size_t swapped_bytes =
      1;  ///< size of the elements whose bytes are to be reversed: 2, 4, 8; 1: none
};

/// Rows of one field that lie in a file at equal distances. Any number of threads.
class file_rows {
 public:
  /// @param field Names it in errors.
  /// @param rows How many there are; all of them lie within the file, or else
  /// @throws dataset_error naming the file's size, and what it should be.
  file_rows(random_file_ptr file, std::string field, row_place place, std::uint64_t rows);

  [[nodiscard]] std::uint64_t size() const noexcept { return rows_; }
  [[nodiscard]] const row_place& place() const noexcept { return place_; }
  [[nodiscard]] const random_file_ptr& file() const noexcept { return file_; }

  /// As `dataset::read`, of one field. Does not look whether the file is unchanged: its dataset
  /// does that once for all fields, afterwards.
  /// @throws dataset_error naming the sample, and the offset where it is the file's fault.
  void read(std::span<const sample_index> samples, std::byte* out) const;

  /// As `dataset::prefetch`: in order of place, near ones together.
  void prefetch(std::span<const sample_index> samples) const noexcept;

 private:
  [[nodiscard]] std::uint64_t offset_of(sample_index sample) const noexcept {
    return place_.offset + sample.value * place_.stride;
  }
  void read_by_calls(std::span<const sample_index> samples, std::byte* out) const;

  random_file_ptr file_;
  std::string field_;
  row_place place_;
  std::uint64_t rows_;
};

}  // namespace feedline::detail
