#pragma once

#include "rows/row_storage.hpp"

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace feedline::detail {

/// Keeps blocks of rows that are expensive to make (decoded chunks), as many as memory allows. One
/// thread fills a block while the others continue with blocks that are there.
///
/// A block's memory is reused once its rows were found as often as the block has rows: if every row
/// is read once, this is its last use. If no block is used up and none may be added, the oldest are
/// evicted. If there is room for all, none ever is. Uses of blocks of less than 1 KiB are not
/// counted, because the counters would take as much memory as the blocks.
///
/// States of a block:
///   absent ─ try_fill, begin_fill ─► filling ─ publish ─► present ─ used up, or oldest ─► absent
///   filling ─ the fill ends unpublished ─► absent
///
/// Blocks that are being filled count among those that are kept. If all of them are being filled, a
/// thread that wants to fill another waits until one of these fills ends.
///
/// Threads: all functions may be called by any number of threads. Readers pay no lock and no write
/// to memory that others read: a `read_guard` is marked once a run of rows, and memory is used
/// again only when all read guards that were open as the block was evicted have ended (P. McKenney,
/// J. Slingwine, "Read-Copy Update", PDCS 1998).
class block_cache {
 public:
  /// @param blocks         How many there are, less than 2³²-2.
  /// @param block_bytes    Size of a block; at least 1.
  /// @param rows_per_block At least 1.
  /// @param max_cached     At least 1; those being filled are among them.
  /// @param unlocked       For tests: called whenever a thread has released the lock, to look at
  ///                       the state that others would find if the thread stopped here.
  block_cache(std::uint64_t blocks, std::size_t block_bytes, std::uint64_t rows_per_block,
              std::uint64_t max_cached, std::function<void()> unlocked = {});
  block_cache(const block_cache&) = delete;
  block_cache& operator=(const block_cache&) = delete;

  /// How many blocks a cache can keep that takes no more than `bytes`, all it needs included; may
  /// be 0.
  /// @param blocks, block_bytes As of the constructor.
  [[nodiscard]] static std::uint64_t max_blocks_within(std::size_t bytes, std::uint64_t blocks,
                                                       std::size_t block_bytes) noexcept;

  /// A block that a thread found stays unchanged while its read guard lives. Nothing that may block
  /// happens in one.
  class read_guard {
   public:
    explicit read_guard(block_cache& cache) : cache_{cache}, number_{cache.enter()} {}
    read_guard(const read_guard&) = delete;
    read_guard& operator=(const read_guard&) = delete;
    ~read_guard() { cache_.leave(number_); }

    /// The block's first byte, to read one row; null if it is not present.
    [[nodiscard]] const std::byte* find(std::uint64_t block) noexcept;

    /// Whether the block is present, or about to be: no row of it is read.
    [[nodiscard]] bool has(std::uint64_t block) const noexcept {
      return cache_.blocks_[block].load(std::memory_order_relaxed) != absent;
    }

   private:
    block_cache& cache_;
    std::size_t number_;
  };

  /// The right, and the duty, to fill a block.
  class fill {
   public:
    fill(fill&& other) noexcept
        : cache_{std::exchange(other.cache_, nullptr)}, block_{other.block_}, slot_{other.slot_} {}
    fill& operator=(fill&&) = delete;
    /// Unless published, the block is absent again, and others may try.
    ~fill();

    [[nodiscard]] std::span<std::byte> bytes() const noexcept {
      return {cache_->memory_of(slot_), cache_->block_bytes_};
    }
    /// @param rows_used How many of its rows the filling thread has used already.
    void publish(std::uint64_t rows_used) noexcept;

   private:
    friend class block_cache;
    fill(block_cache& cache, std::uint64_t block, std::uint32_t slot) noexcept
        : cache_{&cache}, block_{block}, slot_{slot} {}

    block_cache* cache_;
    std::uint64_t block_;
    std::uint32_t slot_;
  };

  /// Claims an absent block; nothing if it is present or being filled, or if all memory is being
  /// filled. Not within a read guard.
  /// @throws std::bad_alloc if the system has no memory; the block is absent then.
  [[nodiscard]] std::optional<fill> try_fill(std::uint64_t block) { return claim(block, false); }

  /// Same as `try_fill`, but waits for memory while all blocks are being filled; nothing if the
  /// block is present or being filled. The caller must not be filling another block, because it
  /// might wait for itself.
  [[nodiscard]] std::optional<fill> begin_fill(std::uint64_t block) { return claim(block, true); }

  /// Returns once no thread is filling the block. Not within a read guard, nor while filling
  /// another.
  void wait_while_filling(std::uint64_t block) const noexcept;

  /// Bytes taken from the system so far, except for the list of blocks.
  [[nodiscard]] std::size_t memory_bytes() const;

 private:
  static constexpr std::uint32_t absent = 0xffff'ffff;
  static constexpr std::uint32_t filling = 0xffff'fffe;
  static constexpr std::uint32_t none = absent;  ///< no slot
  static constexpr std::size_t max_read_guards = 64;
  static constexpr std::size_t least_counted_bytes = 1024;

  using counter = std::atomic<std::uint32_t>;

  /// Written by one thread at a time, on its own cache lines.
  struct alignas(128) read_guard_state {
    std::atomic<std::uint64_t> turn{0};   ///< odd while the read guard is open
    std::atomic<counter*> used{nullptr};  ///< for each slot, rows found; written in the read guard
  };

  /// The state of a slot that may be used again; there are none if there is room for all blocks.
  struct slot_state {
    std::uint32_t block = 0;
    std::uint32_t filler_used = 0;  ///< rows used by the thread that filled it
    std::uint32_t next = none;      ///< the slot that was filled after it
  };

  class locked;

  std::size_t enter();
  void leave(std::size_t number) noexcept;
  [[nodiscard]] std::byte* memory_of(std::uint32_t slot) const noexcept;
  [[nodiscard]] bool blocks_give_way() const noexcept { return max_slots_ < blocks_.size(); }
  [[nodiscard]] bool counts_uses() const noexcept {
    return blocks_give_way() && slot_bytes_ >= least_counted_bytes;
  }
  [[nodiscard]] bool is_used_up(std::uint32_t slot) const noexcept;
  [[nodiscard]] std::optional<fill> claim(std::uint64_t block, bool may_wait);
  [[nodiscard]] std::uint32_t take_slot(bool may_wait);
  void make_room();
  [[nodiscard]] std::uint32_t add_slot();
  void enter_line(std::uint32_t slot, std::uint64_t block, std::uint64_t rows_used) noexcept;
  bool take_out(std::size_t count, bool used_up_only);
  void wait_for_read_guards() const noexcept;

  const std::size_t block_bytes_;
  const std::size_t slot_bytes_;  ///< a block's, rounded up to whole cache lines
  const std::uint64_t rows_per_block_;
  const std::uint32_t max_slots_;
  const std::uint32_t slab_shift_;                  ///< a slab has 2 to this slots
  std::vector<std::atomic<std::uint32_t>> blocks_;  ///< where each is: a slot, `absent`, `filling`
  std::array<read_guard_state, max_read_guards> read_guards_ = {};
  std::vector<std::unique_ptr<counter[]>> counters_ = {};
  std::vector<std::atomic<std::byte*>> slabs_;

  const std::function<void()> unlocked_;
  mutable std::mutex mutex_;      ///< guards everything below; taken once a block that is filled
  std::condition_variable room_;  ///< a fill has ended
  std::vector<row_storage> memory_ = {};
  std::uint32_t slots_ = 0;
  std::vector<std::uint32_t> free_ = {};
  std::vector<slot_state> slot_states_;
  std::uint32_t oldest_ = none;  ///< the oldest slot with a block, in the order of their filling
  std::uint32_t newest_ = none;
  std::uint32_t present_ = 0;  ///< how many these are
};

}  // namespace feedline::detail
