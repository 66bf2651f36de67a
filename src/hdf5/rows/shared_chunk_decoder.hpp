#pragma once

#include "hdf5/rows/blocks.hpp"
#include "rows/block_cache.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace feedline::detail {

/// Fields that are members of one dataset's records, and whose blocks are kept: whoever decodes a
/// chunk for one of them gives the others theirs, so that a chunk is decoded once for all.
///
/// Threads: `read` by any number at once; `add` and `remove` while nobody reads.
class hdf5_shared_chunk_decoder {
 public:
  /// Both stay until they are removed. @param blocks Of the same chunks as the others'.
  void add(const hdf5_chunk_blocks& blocks, block_cache& cache) {
    fields_.push_back({&blocks, &cache});
  }
  void remove(const hdf5_chunk_blocks& blocks) noexcept;

  /// As `own.read`, and fills the same block of each of the others where it is absent.
  void read(const hdf5_chunk_blocks& own, std::uint64_t block, std::span<std::byte> out) const;

 private:
  struct kept_field {
    const hdf5_chunk_blocks* blocks;
    block_cache* cache;
  };

  std::vector<kept_field> fields_ = {};
};

}  // namespace feedline::detail
