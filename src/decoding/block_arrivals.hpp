#pragma once

#include <feedline/backend/block_decoder.hpp>
#include <feedline/backend/device.hpp>

#include "decoding/block_plan.hpp"
#include "device/owned.hpp"
#include "staging/staging_slot.hpp"
#include "transfer/copy_meter.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace feedline::detail {

/// Stored blocks in device memory, where a group of them is gathered to be decoded: a table of
/// loads, then the blocks:
///
///     | load | load | …  room for a group | block | block | …
///
/// If blocks are windows, loads of chunks follow the room for those of blocks.
///
/// A slot's loads are copied together with its blocks, out of the slot, so that the device need not
/// read any other host memory. Orders nothing on the device: `decoding_stage` does. Threads: the
/// transfer's.
class block_arrivals {
 public:
  /// @param table_at Offset of the table of loads in a staging slot. @throws out_of_memory,
  /// device_error.
  block_arrivals(const device_ptr& device, const block_plan& plan, std::size_t table_at);

  /// Device memory that it takes.
  [[nodiscard]] static std::size_t bytes(const block_plan& plan) noexcept {
    return block_plan::table_bytes(plan.group * plan.fields) +
           block_plan::table_bytes(plan.group_chunks) + plan.group_bytes;
  }

  /// Copies a slot's blocks, from its block `first` on, after those that are there, as many as
  /// there is room for. The offsets in the slot's table of loads become those here.
  /// @param from Filled. @param end Number of its blocks.
  /// @return Number of blocks copied; at least 1 if it was empty. @throws device_error
  [[nodiscard]] std::uint32_t add(staging_slot& from, std::uint32_t first, std::uint32_t end,
                                  copy_meter& copies, stream_ref stream);

  /// Whether it has as many blocks as a group.
  [[nodiscard]] bool is_full() const noexcept { return loads_ == max_loads_; }
  /// The gathered blocks. Valid until it changes.
  [[nodiscard]] block_decoder::work content() const noexcept;

  /// End of the blocks, in the epoch's order, that used chunks which the gathered ones replace.
  [[nodiscard]] std::uint64_t replaces_end() const noexcept { return replaces_end_; }

  /// Drops its content: other blocks will be copied over it.
  void clear() noexcept;

  /// Never frees its memory: work may still use it.
  void leak_memory() noexcept;

 private:
  /// Appends loads, whose blocks have moved, to a table.
  /// @param at Offset in the table's memory.
  void append(std::span<const block_load> loads, std::size_t at, copy_meter& copies,
              stream_ref stream);

  std::size_t fields_;
  std::size_t table_at_;
  std::size_t max_loads_;
  std::size_t max_chunks_;
  std::size_t chunks_at_;    ///< offset of the loads of chunks
  std::size_t table_bytes_;  ///< bytes of both tables
  device_memory memory_;
  std::size_t end_;         ///< end of the blocks
  std::size_t loads_ = 0;   ///< number of loads of blocks
  std::size_t chunks_ = 0;  ///< number of loads of chunks
  std::uint64_t replaces_end_ = 0;
  std::vector<std::byte> tables_;  ///< both tables, for the host
};

}  // namespace feedline::detail
