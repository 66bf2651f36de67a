#pragma once

#include "hdf5/rows/blocks.hpp"
#include "rows/block_cache.hpp"
#include "rows/decoded/cached_rows.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace feedline::detail {

/// Fields that are members of one dataset's records, and whose blocks are cached: a thread that
/// decodes a chunk for one of them fills the blocks of the others, so that a chunk is decoded once
/// for all.
///
/// Any number of threads may call `read` at once; `add` and `remove` only while no thread reads.
class hdf5_shared_chunk_decoder {
 public:
  /// Both must exist until they are removed. @param blocks Blocks of the same chunks as the
  /// others'.
  void add(const hdf5_chunk_blocks& blocks, block_cache& cache) {
    fields_.push_back({&blocks, &cache});
  }
  void remove(const block_cache& cache) noexcept {
    std::erase_if(fields_, [&](const kept_field& each) { return each.cache == &cache; });
  }

  /// Reads a block of the field of `own`, and fills the same block of each of the other fields if
  /// it is absent.
  void read(const block_cache& own, std::uint64_t block, std::span<std::byte> out) const;

 private:
  struct kept_field {
    const hdf5_chunk_blocks* blocks;
    block_cache* cache;
  };

  std::vector<kept_field> fields_ = {};
};

/// Cached rows of a field that is a member of records: what a thread decodes for it fills the
/// caches of the records' other members.
class hdf5_member_rows final : public cached_rows {
 public:
  /// @param all Like that of `cached_rows`. @param decoder More fields may join it later.
  hdf5_member_rows(row_extent all, std::unique_ptr<const hdf5_chunk_blocks> blocks,
                   std::shared_ptr<hdf5_shared_chunk_decoder> decoder);
  ~hdf5_member_rows() override;

 private:
  void read_block(std::uint64_t block, std::span<std::byte> out) const override;

  const std::shared_ptr<hdf5_shared_chunk_decoder> decoder_;
};

}  // namespace feedline::detail
