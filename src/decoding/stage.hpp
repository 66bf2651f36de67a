#pragma once

#include <feedline/backend/device.hpp>

#include "decoding/block_arrivals.hpp"
#include "decoding/block_plan.hpp"
#include "decoding/carried_blocks.hpp"
#include "device/owned.hpp"
#include "staging/device_row_cache.hpp"
#include "staging/slot_layout.hpp"
#include "staging/staging_slot.hpp"
#include "transfer/copy_meter.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace feedline::detail {

/// Makes the device decode arriving blocks, a group at once, before slots are assembled from them,
/// and report the first of a slot's samples whose block is missing.
///
/// Blocks come with slots long before they are needed, and gather in a lane: a buffer, a stream and
/// a decoder. A group is decoded when it is full, or when a slot needs a block of it; the next
/// group gathers in the next lane, so that several groups are decoded at once. On the stream of
/// copies:
///
///     wait for `decoded` of the group that was in this lane before, once,
///     copy, record `arrived`
///
/// On a lane's stream:
///
///     wait for `arrived`,
///     wait for the other lanes' groups of the run before: they may have the same places,
///     for windows: wait for groups whose chunks are replaced, decode chunks,
///     wait for the last assembly that was issued: all that read what is overwritten are,
///     for windows: wait for the group before, with which they share chunks,
///     decode, record the group's `decoded`
///
/// On the stream of assemblies:
///
///     wait for `decoded` of the groups with the blocks that the slot needs,
///     find the first sample that misses its block, copy its number back
///
/// An abandoned pass leaves blocks that no call decodes any more. Threads: the transfer's.
class decoding_stage {
 public:
  /// @param plan Sized. @param store Memory of the decoded rows, `places` blocks; outlives this.
  /// @param tables Layout of a slot's tables. @param slots Number of device slots.
  /// @throws out_of_memory, device_error.
  decoding_stage(device_ptr device, const block_plan& plan, const device_row_cache& store,
                 destination_layout tables, std::size_t slots);

  /// Takes the blocks of a slot, and issues the decoding of all blocks that its samples need.
  /// @param from Filled; it carries blocks. @param assembled Recorded after the last assembly;
  /// none:
  /// there is none. @throws device_error: then call `recover`.
  void take(staging_slot& from, copy_meter& copies, stream_ref copying, event_handle assembled);
  /// Issues on `stream` the work between the arrival of a slot's blocks and its assembly.
  /// Sets the blocks' `first_bad`.
  /// @param from Its blocks were taken. @param samples At least 1. @throws device_error
  void check(const staging_slot& from, const std::byte* copy_destination, std::uint64_t samples,
             stream_ref stream);
  /// After `take` failed: drops the blocks that it should have decoded. False if the device does
  /// not tell when the issued work is done: then this must not be used any more.
  [[nodiscard]] bool recover(stream_ref copying) noexcept;

  /// Whether no work that `take` issued is in flight any more; never blocks. @throws device_error
  [[nodiscard]] bool is_idle();
  /// Blocks until that is so; false if that cannot be known.
  [[nodiscard]] bool sync_before_freeing() noexcept;
  /// Never frees its memory: work may still use it.
  void leak_memory() noexcept;

  /// The store that the decoder is made for. @param cache Null: its memory is not there yet.
  [[nodiscard]] static block_store store_of(const block_plan& plan,
                                            std::span<const std::size_t> row_bytes,
                                            const device_row_cache* cache = nullptr);
  /// The chunks that windows are cut from; null: blocks are no windows.
  /// @param memory Device memory of `chunk_bytes`. @param states For all of its blocks.
  [[nodiscard]] static std::shared_ptr<const block_store> chunks_of(
      const block_plan& plan, std::byte* memory = nullptr, std::uint32_t* states = nullptr);
  /// Device memory of decoded chunks.
  [[nodiscard]] static std::size_t chunk_bytes(const block_plan& plan);
  /// Staging memory that it takes.
  [[nodiscard]] static constexpr std::size_t answer_bytes(std::size_t slots) noexcept {
    return slots * sizeof(std::uint32_t);
  }
  /// Device memory that it takes, with the decoder's.
  [[nodiscard]] static std::size_t device_bytes(const block_plan& plan,
                                                std::span<const std::size_t> row_bytes,
                                                const block_decoders& by, std::size_t slots);

 private:
  /// Decodes groups of blocks, one after the other.
  struct lane {
    /// @param store The store for the decoder. @param table_at Same as for `block_arrivals`.
    lane(const device_ptr& device, const block_plan& plan, const block_store& store,
         std::size_t table_at)
        : arrivals{device, plan, table_at},
          stream{device},
          decoder{device->capabilities().decodes->make(store)} {}
    block_arrivals arrivals;
    detail::stream stream;
    std::unique_ptr<block_decoder> decoder;
  };
  struct group {
    explicit group(const device_ptr& device) : decoded{device} {}
    event decoded;
    std::uint64_t begin = 0;  ///< index of its first block in the epoch's order
    std::uint64_t end = 0;    ///< end of its blocks; 0: it does not belong to this pass
  };

  [[nodiscard]] static std::size_t words(const block_plan& plan, std::size_t slots) noexcept {
    return plan.places * plan.fields + slots + chunk_words(plan);
  }
  /// States of chunks.
  [[nodiscard]] static std::size_t chunk_words(const block_plan& plan) noexcept;
  /// The lane of the group that is gathered now, or next.
  [[nodiscard]] lane& next_lane() noexcept { return *lanes_[closed_ % lanes_.size()]; }
  /// The group that was closed this many groups before that one.
  [[nodiscard]] group& closed(std::uint64_t back) noexcept {
    return groups_[(closed_ + groups_.size() - back) % groups_.size()];
  }
  /// Makes `stream` wait until all blocks before `end` are decoded.
  void wait_for_blocks(std::uint64_t end, stream_ref stream);
  void forget_pass() noexcept;
  void open(stream_ref copying);
  void decode(stream_ref copying, event_handle assembled);
  void close() noexcept;

  device_ptr device_;
  destination_layout tables_;
  std::size_t fields_;
  bool cuts_windows_;
  std::optional<device_memory> chunks_;  ///< decoded ones, from which windows are cut
  device_memory words_;    ///< the states of blocks, and of each device slot its first bad sample
  device_memory answers_;  ///< staging memory for the first bad samples
  std::size_t first_answer_;
  std::size_t slots_;
  std::uint64_t checked_ = 0;  ///< number of slots
  event arrived_;
  /// Groups that can be waited for one by one: two a lane. Earlier ones have long been decoded.
  std::vector<group> groups_;
  std::uint64_t closed_ = 0;       ///< number of groups
  bool is_open_ = false;           ///< blocks are being gathered
  std::uint64_t arrived_end_ = 0;  ///< end of the pass's blocks that arrived
  std::uint64_t decoded_end_ = 0;  ///< end of those that are decoded, or will be
  std::uint64_t awaited_end_ = 0;  ///< end of those that assemblies have waited for
  bool lost_ = false;              ///< no event follows issued work
  std::vector<std::unique_ptr<lane>> lanes_;
};

}  // namespace feedline::detail
