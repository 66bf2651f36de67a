#pragma once

#include <feedline/device/device.hpp>

#include "batch/device_slot.hpp"
#include "device/owned.hpp"
#include "staging/block_plan.hpp"
#include "staging/device_row_cache.hpp"
#include "staging/slot_layout.hpp"
#include "staging/staging_slot.hpp"
#include "transfer/copy_meter.hpp"
#include "transfer/decoding_lane.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace feedline::detail {

/// Has the device decode the blocks that arrive, a group at once, before slots are assembled out of
/// them, and tell which of a slot's samples is the first that misses its block.
///
/// Blocks come with slots long before they are needed, and gather in a lane. A group is decoded
/// when it is full, or when a slot needs a block of it; the next one gathers in the next lane, so
/// that groups are decoded at once. On the copies' stream:
///
///     wait for `decoded` of the group that was in this lane before, once,
///     copy, record `arrived`
///
/// On the lane's:
///
///     wait for `arrived`,
///     wait for the last assembly that was issued: all that read what is overwritten are,
///     wait for the other lanes' groups of the run before: they may have the same places,
///     decode, record the group's `decoded`
///
/// On the assemblies':
///
///     wait for `decoded` of the groups with the blocks that the slot needs,
///     find the first sample that misses its block, copy its number back
///
/// A run that was left leaves blocks that no call decodes any more. Threads: the transfer's.
class decoding_stage {
 public:
  /// @param plan Sized. @param store Where decoded rows lie, `places` blocks; outlives this.
  /// @param tables Where a slot's tables lie. @param slots Device slots.
  /// @throws out_of_memory, device_error.
  decoding_stage(device_ptr device, const block_plan& plan, const device_row_cache& store,
                 landing_layout tables, std::size_t slots);

  /// Takes the blocks of a slot, and issues the decoding of all that its samples need.
  /// @param from Filled. @param assembled Recorded behind the last assembly; none: there is none.
  /// @throws device_error: then `recover` is to be called.
  void take(staging_slot& from, copy_meter& copies, stream_ref copying, event_handle assembled);
  /// Issues on `stream` what stands between a slot's blocks and its assembly.
  /// @param from Its blocks were taken. @param samples At least 1. @throws device_error
  void check(const staging_slot& from, const std::byte* landing_buffer, device_slot& to,
             std::uint64_t samples, stream_ref stream);
  /// After `take` failed: forgets the blocks that it was to have decoded. False if the device does
  /// not let it know when what was issued is done: then this must not be used any more.
  [[nodiscard]] bool recover(stream_ref copying) noexcept;

  /// Whether nothing that `take` issued is under way any more; never blocks. @throws device_error
  [[nodiscard]] bool is_idle();
  /// Blocks until it is; false if nobody knows.
  [[nodiscard]] bool sync_before_freeing() noexcept;
  /// Never frees its memory: work may still use it.
  void leak_memory() noexcept;

  /// What the decoder is made for. @param cache Null: its memory is not there yet.
  [[nodiscard]] static block_store store_of(const block_plan& plan,
                                            std::span<const std::size_t> row_bytes,
                                            const device_row_cache* cache = nullptr);
  /// Staging memory that it takes.
  [[nodiscard]] static constexpr std::size_t answer_bytes(std::size_t slots) noexcept {
    return slots * sizeof(std::uint32_t);
  }
  /// Device memory that it takes, with the decoder's.
  [[nodiscard]] static std::size_t device_bytes(const block_plan& plan,
                                                std::span<const std::size_t> row_bytes,
                                                const block_decoders& by, std::size_t slots);

 private:
  struct group {
    explicit group(const device_ptr& device) : decoded{device} {}
    event decoded;
    std::uint64_t begin = 0;  ///< the place of its first block
    std::uint64_t end = 0;    ///< behind its last; 0: it is none of this run's
  };

  [[nodiscard]] static std::size_t words(const block_plan& plan, std::size_t slots) noexcept {
    return plan.places * plan.fields + slots;
  }
  /// That of the group that gathers, or that gathers next.
  [[nodiscard]] decoding_lane& next_lane() noexcept { return *lanes_[closed_ % lanes_.size()]; }
  /// So many groups before that one.
  [[nodiscard]] group& closed(std::uint64_t back) noexcept {
    return groups_[(closed_ + groups_.size() - back) % groups_.size()];
  }
  /// Has `stream` wait until all blocks before `end` are decoded.
  void wait_for_blocks(std::uint64_t end, stream_ref stream);
  void forget_run() noexcept;
  void open(stream_ref copying);
  void decode(stream_ref copying, event_handle assembled);
  void close() noexcept;

  device_ptr device_;
  landing_layout tables_;
  std::size_t fields_;
  device_memory words_;    ///< the states of blocks, and of each device slot its first bad sample
  device_memory answers_;  ///< staging memory: the latter
  std::size_t first_answer_;
  std::size_t answered_ = 0;  ///< device slots that have a word of theirs
  event arrived_;
  /// Those that can be waited for one by one: two a lane. Those before have long been decoded.
  std::vector<group> groups_;
  std::uint64_t closed_ = 0;        ///< groups
  bool is_open_ = false;            ///< blocks gather
  std::shared_ptr<epoch_run> run_;  ///< whose places are counted:
  std::uint64_t arrived_end_ = 0;   ///< the place behind the last block that came
  std::uint64_t decoded_end_ = 0;   ///< that was decoded, or will be
  std::uint64_t awaited_end_ = 0;   ///< that assemblies have waited for
  bool lost_ = false;               ///< no event stands behind work that was issued
  std::vector<std::unique_ptr<decoding_lane>> lanes_;
};

}  // namespace feedline::detail
