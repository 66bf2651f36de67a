#pragma once

#include "hdf5/library/storage_layout.hpp"
#include "hdf5/rows/rows.hpp"
#include "io/random_file.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

namespace feedline::detail {

/// One member of records of the contiguous layout, where a row is several records: its values lie
/// apart within a row, too.
class hdf5_spread_rows final : public hdf5_rows {
 public:
  /// @param name Of the dataset, for errors. @param place Contiguous, of elements that lie apart.
  /// @param elements Of a row. @param rows All of them lie within the file, or else
  /// @throws hdf5_error
  hdf5_spread_rows(random_file_ptr file, std::string name, const hdf5_storage_layout& place,
                   std::size_t elements, std::uint64_t rows);

  void read(std::span<const sample_index> samples, std::byte* out) const override;
  void prefetch(std::span<const sample_index> samples) const noexcept override;

 private:
  [[nodiscard]] std::uint64_t offset_of(sample_index sample) const noexcept {
    return offset_ + sample.value * row_stride_;
  }

  random_file_ptr file_;
  std::string name_;
  std::uint64_t offset_;  ///< of the first row's first value
  std::size_t element_bytes_;
  std::size_t stride_;  ///< from one element to the next
  std::size_t elements_;
  std::uint64_t rows_;
  std::uint64_t row_stride_ = 0;
  std::size_t swapped_bytes_;
};

}  // namespace feedline::detail
