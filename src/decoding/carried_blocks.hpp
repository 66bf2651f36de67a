#pragma once

#include "decoding/block_reader.hpp"
#include "staging/slot_blocks.hpp"
#include "staging/staging_slot.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace feedline::detail {

/// The blocks of one slot: consecutive ones in the epoch's order of blocks.
struct carried_blocks final : slot_blocks {
  carried_blocks() = default;
  /// Borrows the reader until the slot is filled.
  explicit carried_blocks(block_reader& reads_with) : reader{&reads_with} {}

  /// Each block, then each chunk.
  [[nodiscard]] std::uint32_t requests() const noexcept override {
    return loads + static_cast<std::uint32_t>(chunks.size());
  }
  void read(staging_slot& slot, std::uint32_t number) const noexcept override {
    const std::uint64_t epoch = slot.work.pass->epoch;
    if (number < loads) return reader->read(slot, epoch, first_load + number, number);
    reader->read_chunk(slot, epoch, number - loads);
  }
  [[nodiscard]] position needed_at(std::uint32_t number) const noexcept override {
    return reader->needed_at(first_load + (number < loads ? number : chunks[number - loads].load));
  }
  [[nodiscard]] bool is_ahead() const noexcept override { return ahead; }
  [[nodiscard]] bool may_pass(const slot_blocks& other) const noexcept override {
    return loads == 0 && needed_end <= of(other).first_load;
  }

  /// The same object with its type, which no other room's differs from.
  [[nodiscard]] static const carried_blocks& of(const slot_blocks& blocks) noexcept {
    return static_cast<const carried_blocks&>(blocks);
  }
  [[nodiscard]] static carried_blocks& of(slot_blocks& blocks) noexcept {
    return static_cast<carried_blocks&>(blocks);
  }

  /// A chunk among the slot's chunks, which its windows are cut from.
  struct chunk {
    std::uint32_t array;
    std::uint64_t number;
    std::uint32_t load;  ///< the first block in the slot that needs it
  };
  /// Chunks of a block, and its end.
  struct extra {
    std::uint32_t chunks_end;    ///< end of its chunks in the table of chunks
    std::size_t end;             ///< end of its bytes in the slot
    bool begins_group;           ///< it must not be decoded together with blocks before it
    std::uint64_t replaces_end;  ///< end of the blocks that used what its chunks replace
  };

  block_reader* reader = nullptr;
  std::uint64_t first_load = 0;  ///< index of the first block in the epoch's order of blocks
  std::uint32_t loads = 0;       ///< number of blocks
  std::uint64_t needed_end = 0;  ///< end of the blocks that the slot's samples need, in that order
  bool ahead = false;            ///< they are for later tickets, and the slot has no samples
  /// The chunks of all blocks, and for each block which are its own; empty: no block is a window.
  std::vector<chunk> chunks = {};
  std::vector<extra> extras = {};
  bool begins_pass = false;  ///< the slot is the first of its epoch pass
  /// Once the device slot is ready: its first sample whose block is missing, 0xFFFFFFFF if none is.
  /// Null: the device checks none. The transfer's, then the consumer's.
  const std::uint32_t* first_bad = nullptr;
};

}  // namespace feedline::detail
