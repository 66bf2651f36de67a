#pragma once

#include <feedline/device/block_decoder.hpp>
#include <feedline/device/device.hpp>

#include "device/owned.hpp"
#include "staging/block_plan.hpp"
#include "staging/staging_slot.hpp"
#include "transfer/copy_meter.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace feedline::detail {

/// Blocks as they are stored, in device memory, where a group of them comes together to be decoded:
/// a table of loads, and behind it the blocks:
///
///     | load | load | …  room for a group | block | block | …
///
/// A slot's loads are copied with its blocks, out of the slot, so that no other memory is kept for
/// the device to read. Orders nothing on the device: that is `decoding_stage`'s. Threads: the
/// transfer's.
class block_arrivals {
 public:
  /// @param table_at Where in a staging slot the table of loads lies. @throws out_of_memory,
  /// device_error.
  block_arrivals(const device_ptr& device, const block_plan& plan, std::size_t table_at);

  /// Device memory that it takes.
  [[nodiscard]] static std::size_t bytes(const block_plan& plan) noexcept {
    return block_plan::table_bytes(plan.group * plan.fields) + plan.group_bytes;
  }

  /// Copies a slot's blocks, from its block `first` on, behind those that are there, as many as
  /// there is room for. In the slot's table of loads their places become those here.
  /// @param from Filled.
  /// @return How many; at least 1 if it is empty. @throws device_error
  [[nodiscard]] std::uint32_t add(staging_slot& from, std::uint32_t first, copy_meter& copies,
                                  stream_ref stream);

  /// There are as many blocks as a group has.
  [[nodiscard]] bool is_full() const noexcept { return loads_.size() == max_loads_; }
  /// What is there. Good until it changes.
  [[nodiscard]] block_decoder::work content() const noexcept;

  /// Forgets what is there: others will be copied to where it is.
  void clear() noexcept;

  /// Never frees its memory: work may still use it.
  void leak_memory() noexcept;

 private:
  std::size_t fields_;
  std::size_t table_at_;
  std::size_t max_loads_;
  std::size_t table_bytes_;
  device_memory memory_;
  std::size_t end_;                ///< of the blocks
  std::vector<block_load> loads_;  ///< of the blocks
};

}  // namespace feedline::detail
