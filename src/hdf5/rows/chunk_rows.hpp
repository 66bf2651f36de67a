#pragma once

#include "hdf5/format/chunk_map.hpp"
#include "hdf5/library/storage_layout.hpp"
#include "hdf5/rows/rows.hpp"
#include "rows/block_place.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace feedline::detail {

/// Rows of chunks that are stored as they are, with no filter, and do not split rows: each is read
/// from its place in the file, without the rest of its chunk. Of records, one member, where a row
/// is a record.
class hdf5_chunk_rows final : public hdf5_rows {
 public:
  /// @param name Of the dataset, for errors.
  /// @throws hdf5_error if a chunk's size in the file is not that of its rows.
  hdf5_chunk_rows(random_file_ptr file, std::string name, const hdf5_storage_layout& place,
                  std::shared_ptr<const hdf5_chunk_map> map);

  /// Whether a dataset is stored so.
  [[nodiscard]] static bool serves(const hdf5_storage_layout& place,
                                   std::span<const std::uint64_t> extents);

  void read(std::span<const sample_index> samples, std::byte* out) const override;
  void prefetch(std::span<const sample_index> samples) const noexcept override;

 private:
  [[nodiscard]] std::uint64_t address_of(sample_index sample) const noexcept;
  [[nodiscard]] std::size_t consecutive(std::span<const sample_index> samples) const noexcept;
  void read_by_calls(std::span<const sample_index> samples, std::byte* out) const;
  void read_mapped(std::span<const sample_index> samples, std::span<const std::byte> file,
                   std::byte* out) const;
  void read_long_rows(std::span<const sample_index> samples, std::span<const std::byte> file,
                      std::byte* out) const;

  random_file_ptr file_;
  std::string name_;
  std::shared_ptr<const hdf5_chunk_map> map_;
  block_place place_;
  std::size_t row_bytes_;
  std::size_t stride_;  ///< from one row to the next in a chunk
  std::size_t offset_;  ///< of the first row in its chunk
  std::size_t swapped_bytes_;
  std::vector<std::byte> fill_;  ///< what is never written, over and over; in the file's byte order
  std::vector<std::byte> unwritten_row_ = {};  ///< of it, where rows are short
};

}  // namespace feedline::detail
