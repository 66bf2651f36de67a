#pragma once

#include "hdf5/rows/blocks.hpp"
#include "hdf5/rows/cached_rows.hpp"
#include "hdf5/rows/rows.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace feedline::detail {

/// Rows that cross many chunks (tiles), so many that those of one row are too much memory to be
/// kept together: each tile is decoded, kept and given up by itself. Tiles that were never written
/// take no memory.
class hdf5_tiled_rows final : public hdf5_rows {
 public:
  /// @param rows      Of the field.
  /// @param most_kept Tiles, at least 1.
  hdf5_tiled_rows(std::unique_ptr<const hdf5_chunk_blocks> blocks, std::uint64_t rows,
                  std::size_t row_bytes, std::uint64_t max_cached);

  /// Of one tile, as the field has its values.
  [[nodiscard]] static std::size_t tile_bytes(const hdf5_storage_layout& place);

  void read(std::span<const sample_index> samples, std::byte* out) const override;
  chunking chunks() const override;
  void prefetch(std::span<const sample_index> samples) const noexcept override;

 private:
  [[nodiscard]] sample_index part_of(sample_index sample, std::uint64_t column) const noexcept;
  void read_columns(std::span<const sample_index> samples, std::uint64_t first,
                    std::uint64_t columns, std::byte* out) const;

  std::shared_ptr<const hdf5_chunk_blocks> blocks_;
  const std::uint64_t rows_;
  const std::size_t row_bytes_;
  const std::uint64_t rows_per_tile_;
  const std::size_t part_bytes_;  ///< of a row in a tile, padding included
  const std::uint64_t kept_rows_of_tiles_;
  hdf5_cached_rows parts_;  ///< tiles as if they were the blocks, and parts of rows the rows
};

}  // namespace feedline::detail
