#pragma once

#include "rows/block_cache.hpp"
#include "rows/block_place.hpp"
#include "rows/decoded/blocks.hpp"
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

/// Rows of blocks that are worth caching: each block is read by one reader, while the others
/// continue with rows of blocks that are present, or read blocks that some reader will need.
class cached_rows : public field_rows {
 public:
  /// @param all Its chunks are the blocks; at least 1 is cached.
  cached_rows(row_extent all, std::unique_ptr<const decoded_blocks> blocks);

  void read(std::span<const sample_index> samples, std::byte* out) const override;
  void prefetch(std::span<const sample_index> samples) const noexcept override;
  bool is_cold() const noexcept override { return field_rows::is_cold() || blocks_->is_cold(); }

 protected:
  /// Reads a block that is absent from the cache. @param out Memory of a block.
  virtual void read_block(std::uint64_t block, std::span<std::byte> out) const {
    blocks_->read(block, out);
  }
  [[nodiscard]] const decoded_blocks& blocks() const noexcept { return *blocks_; }
  [[nodiscard]] block_cache& cache() const noexcept { return cache_; }

 private:
  struct scratch;

  void copy_present(std::span<const sample_index> samples, scratch& with, std::byte* out) const;
  void read_absent(std::span<const sample_index> samples, scratch& with, std::byte* out) const;
  void tell_last_ones(std::span<const sample_index> samples, scratch& with) const;
  void wait_for(std::uint64_t block) const;
  [[nodiscard]] bool read_for_others(std::uint64_t block) const noexcept;
  void read_counted(std::uint64_t block, std::span<std::byte> out) const;

  std::unique_ptr<const decoded_blocks> blocks_;
  const block_place place_;
  mutable block_cache cache_;
  mutable help_requests wanted_ = {};
};

/// Rows that are blocks by themselves: each is decoded directly to its destination, and not cached.
class single_rows final : public field_rows {
 public:
  /// @param blocks Blocks of one row each.
  single_rows(row_extent extent, std::unique_ptr<const decoded_blocks> blocks)
      : field_rows{std::move(extent)}, blocks_{std::move(blocks)} {}

  void read(std::span<const sample_index> samples, std::byte* out) const override {
    for (std::size_t i = 0; i < samples.size(); ++i)
      blocks_->read(samples[i].value, {out + i * row_bytes(), row_bytes()});
  }
  void prefetch(std::span<const sample_index> samples) const noexcept override {
    for (const sample_index sample : samples) blocks_->prefetch(sample.value);
  }
  bool is_cold() const noexcept override { return field_rows::is_cold() || blocks_->is_cold(); }

 private:
  std::unique_ptr<const decoded_blocks> blocks_;
};

/// With a cache of fewer blocks, readers would evict each other's blocks.
inline constexpr std::uint64_t least_cached_blocks = 4;

/// The extent of rows whose blocks are cached, as many as memory allows. Nothing: each row is a
/// block, and not all of them fit, so that each is decoded when it is read (`single_rows`).
/// @param extent Extent of the field, except chunks. @param block_bytes Bytes of a decoded block.
[[nodiscard]] std::optional<row_extent> cached_extent(row_extent extent,
                                                      std::uint64_t rows_per_block,
                                                      std::size_t block_bytes,
                                                      std::size_t cache_bytes);

/// Whether the chunks of a block, which split rows, are too large to be decoded and cached
/// together: that would take a long time for a single row, and much memory.
[[nodiscard]] bool are_cached_as_tiles(std::uint64_t rows_per_block, std::size_t block_bytes,
                                       std::size_t cache_bytes) noexcept;

/// Rows that cross very many chunks (tiles), so that the tiles of one row are too much memory to be
/// cached together: each tile is decoded, cached and evicted by itself. Tiles that were never
/// written take no memory.
/// @param extent Extent of the field, except chunks. @param blocks, tiles Blocks of the same
///               chunks.
/// @param max_cached Number of tiles, at least 1.
[[nodiscard]] std::unique_ptr<const field_rows> make_tiled_rows(
    row_extent extent, std::unique_ptr<const chunk_blocks> blocks,
    std::unique_ptr<const decoded_blocks> tiles, std::uint64_t max_cached);

}  // namespace feedline::detail
