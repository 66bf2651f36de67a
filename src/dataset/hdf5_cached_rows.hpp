#pragma once

#include "dataset/block_cache.hpp"
#include "dataset/hdf5_blocks.hpp"
#include "dataset/hdf5_rows.hpp"
#include "detail/pool.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace feedline::detail {

/// Rows of blocks that are worth keeping: each block is read by one reader, while the others go on with
/// rows of blocks that are there.
class hdf5_cached_rows final : public hdf5_rows {
 public:
  /// @param rows      Of the field.
  /// @param most_kept Blocks, at least 1.
  hdf5_cached_rows(std::unique_ptr<const hdf5_blocks> blocks, std::uint64_t rows,
                   std::size_t row_bytes, std::uint64_t most_kept);

  void read(std::span<const sample_index> samples, std::byte* out) const override;
  chunking chunks() const override;
  void prefetch(std::span<const sample_index> samples) const noexcept override;

 private:
  /// What a run of samples needs besides.
  struct scratch {
    std::vector<const std::byte*> found;
    std::vector<std::size_t> missing;  ///< places in the run
    std::vector<std::uint64_t> blocks;
  };

  void copy_present(std::span<const sample_index> samples, scratch& with, std::byte* out) const;
  void read_absent(std::span<const sample_index> samples, scratch& with, std::byte* out) const;

  std::unique_ptr<const hdf5_blocks> blocks_;
  const std::uint64_t rows_;
  const std::size_t row_bytes_;
  const std::uint64_t rows_per_block_;
  const std::uint64_t most_kept_;
  mutable block_cache cache_;
  mutable pool<scratch> scratch_;
};

}  // namespace feedline::detail
