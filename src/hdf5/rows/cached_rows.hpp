#pragma once

#include "hdf5/rows/blocks.hpp"
#include "rows/block_cache.hpp"
#include "rows/block_place.hpp"
#include "rows/field_rows.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace feedline::detail {

/// Blocks that readers have still to read, told so that others who would only wait read them first.
/// A list that forgets: of many the last are kept. What is in it is wanted now, for who told of a
/// block takes it back.
///
/// Threads: any number.
class help_requests {
 public:
  static constexpr std::size_t most = 64;

  /// Where a block was told.
  struct place {
    std::uint64_t block;
    std::size_t number;
  };

  help_requests() noexcept {
    for (auto& each : blocks_) each.store(none, std::memory_order_relaxed);
  }

  place tell(std::uint64_t block) noexcept {
    const std::size_t number = next_.fetch_add(1, std::memory_order_relaxed) % most;
    blocks_[number].store(block, std::memory_order_relaxed);
    return {block, number};
  }
  /// Nothing happens if it was taken or forgotten.
  void take_back(const place& told) noexcept {
    std::uint64_t block = told.block;
    blocks_[told.number].compare_exchange_strong(block, none, std::memory_order_relaxed);
  }
  /// Some block, for the caller to read; nothing if none is wanted.
  [[nodiscard]] std::optional<std::uint64_t> take() noexcept {
    for (auto& each : blocks_) {
      if (each.load(std::memory_order_relaxed) == none) continue;
      const std::uint64_t block = each.exchange(none, std::memory_order_relaxed);
      if (block != none) return block;
    }
    return std::nullopt;
  }

 private:
  static constexpr std::uint64_t none = UINT64_MAX;

  std::array<std::atomic<std::uint64_t>, most> blocks_;
  std::atomic<std::size_t> next_{0};
};

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
  void remove(const block_cache& cache) noexcept {
    std::erase_if(fields_, [&](const kept_field& each) { return each.cache == &cache; });
  }

  /// Reads a block of the field of `own`, and fills the same block of each of the others where it
  /// is absent.
  void read(const block_cache& own, std::uint64_t block, std::span<std::byte> out) const;

 private:
  struct kept_field {
    const hdf5_chunk_blocks* blocks;
    block_cache* cache;
  };

  std::vector<kept_field> fields_ = {};
};

/// Rows of blocks that are worth keeping: each block is read by one reader, while the others go on
/// with rows of blocks that are there, or read blocks that somebody will need.
class hdf5_cached_rows final : public field_rows {
 public:
  /// @param all    Its chunks are the blocks; at least 1 is kept.
  /// @param shared_decoder Of a field that shares its chunks with others, which may come later:
  ///                       `blocks` are `hdf5_chunk_blocks` then.
  hdf5_cached_rows(row_extent all, std::unique_ptr<const hdf5_blocks> blocks,
                   std::shared_ptr<hdf5_shared_chunk_decoder> shared_decoder = nullptr);
  ~hdf5_cached_rows() override;

  void read(std::span<const sample_index> samples, std::byte* out) const override;
  void prefetch(std::span<const sample_index> samples) const noexcept override;

 private:
  struct scratch;

  void copy_present(std::span<const sample_index> samples, scratch& with, std::byte* out) const;
  void read_absent(std::span<const sample_index> samples, scratch& with, std::byte* out) const;
  void tell_last_ones(std::span<const sample_index> samples, scratch& with) const;
  void wait_for(std::uint64_t block) const;
  [[nodiscard]] bool read_for_others(std::uint64_t block) const noexcept;
  void read_block(std::uint64_t block, std::span<std::byte> out) const;

  std::unique_ptr<const hdf5_blocks> blocks_;
  const block_place place_;
  mutable block_cache cache_;
  mutable help_requests wanted_ = {};
  const std::shared_ptr<hdf5_shared_chunk_decoder> shared_decoder_;
};

/// Rows that cross many chunks (tiles), so many that those of one row are too much memory to be
/// kept together: each tile is decoded, kept and given up by itself. Tiles that were never written
/// take no memory.
/// @param extent Of the field, but for chunks. @param blocks, tiles Of the same chunks.
/// @param max_cached Tiles, at least 1.
[[nodiscard]] std::unique_ptr<const field_rows> make_tiled_rows(
    row_extent extent, std::unique_ptr<const hdf5_chunk_blocks> blocks,
    std::unique_ptr<const hdf5_chunk_blocks> tiles, std::uint64_t max_cached);

}  // namespace feedline::detail
