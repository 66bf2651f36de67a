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

/// Blocks that readers have yet to read, announced so that other readers, which would otherwise
/// only wait, read them first. The list is bounded: it keeps the last ones. All blocks in it are
/// wanted now, because a reader that has announced a block takes it back.
///
/// Any number of threads may use it.
class help_requests {
 public:
  static constexpr std::size_t most = 64;

  /// The entry in which a block was announced.
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
  /// Does nothing if the block was taken or dropped.
  void take_back(const place& told) noexcept {
    std::uint64_t block = told.block;
    blocks_[told.number].compare_exchange_strong(block, none, std::memory_order_relaxed);
  }
  /// A block for the caller to read; nothing if none is wanted.
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

/// Rows of blocks that are worth caching: each block is read by one reader, while the others
/// continue with rows of blocks that are present, or read blocks that some reader will need.
class hdf5_cached_rows final : public field_rows {
 public:
  /// @param all Its chunks are the blocks; at least 1 is cached.
  /// @param shared_decoder Decoder of fields that share their chunks; more fields may join it
  ///                       later. `blocks` must then be `hdf5_chunk_blocks`.
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

/// Rows that cross very many chunks (tiles), so that the tiles of one row are too much memory to be
/// cached together: each tile is decoded, cached and evicted by itself. Tiles that were never
/// written take no memory.
/// @param extent Extent of the field, except chunks. @param blocks, tiles Blocks of the same
///               chunks.
/// @param max_cached Number of tiles, at least 1.
[[nodiscard]] std::unique_ptr<const field_rows> make_tiled_rows(
    row_extent extent, std::unique_ptr<const hdf5_chunk_blocks> blocks,
    std::unique_ptr<const hdf5_chunk_blocks> tiles, std::uint64_t max_cached);

}  // namespace feedline::detail
