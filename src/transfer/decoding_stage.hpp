#pragma once

#include <feedline/device/device.hpp>

#include "batch/device_slot.hpp"
#include "device/owned.hpp"
#include "staging/block_plan.hpp"
#include "staging/device_row_cache.hpp"
#include "staging/slot_layout.hpp"
#include "staging/staging_slot.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace feedline::detail {

/// Has the device decode the blocks that arrived with a slot, before the slot is assembled out of
/// them, and tell which of the slot's samples is the first that misses its block.
///
/// All its work stands on one stream, in ticket order: a block is decoded behind the assembly of
/// all slots before, and before the assembly of its own, so no event is needed between them.
/// Threads: the transfer's.
class decoding_stage {
 public:
  /// @param store Where decoded rows lie, `places` blocks of them; outlives this.
  /// @param tables Where a slot's tables lie. @param slots Device slots.
  /// @throws out_of_memory, device_error.
  decoding_stage(device_ptr device, const block_plan& plan, const device_row_cache& store,
                 landing_layout tables, std::size_t slots);

  /// Issues all that on `stream`: behind it, the assembly.
  /// @param samples Of the slot; 0 where it brings blocks alone. @throws device_error
  void run(const staging_slot& from, const std::byte* landing_buffer, device_slot& to,
           std::uint64_t samples, stream_ref stream);

  /// Never frees its memory: work may still use it.
  void leak_memory() noexcept;

  /// What the decoder is made for. @param cache Null: its memory is not there yet.
  [[nodiscard]] static block_store store_of(const block_plan& plan,
                                            std::span<const std::size_t> row_bytes,
                                            const device_row_cache* cache = nullptr);
  /// Device memory that it takes, with the decoder's.
  [[nodiscard]] static std::size_t device_bytes(const block_plan& plan,
                                                std::span<const std::size_t> row_bytes,
                                                const block_decoders& by, std::size_t slots);

 private:
  [[nodiscard]] static std::size_t words(const block_plan& plan, std::size_t slots) noexcept {
    return plan.places * plan.fields + slots;
  }

  device_ptr device_;
  landing_layout tables_;
  std::size_t fields_;
  device_memory words_;    ///< the states of blocks, and of each device slot its first bad sample
  device_memory answers_;  ///< staging memory: the latter
  std::size_t first_answer_;
  std::size_t answered_ = 0;  ///< device slots that have a word of theirs
  std::unique_ptr<block_decoder> decoder_;
};

}  // namespace feedline::detail
