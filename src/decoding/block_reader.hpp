#pragma once

#include <feedline/index.hpp>

#include "decoding/block_plan.hpp"
#include "staging/staging_slot.hpp"

#include <cstddef>
#include <cstdint>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

namespace feedline::detail {

/// Reads blocks into staging slots as they are stored. Any number of readers, each on a different
/// block.
class block_reader {
 public:
  /// @param table_at Offset of the table of loads in a staging slot.
  /// @param seed Seed of the samples' random choices.
  block_reader(std::shared_ptr<const block_plan> plan, std::size_t table_at, std::uint64_t seed = 0)
      : plan_{std::move(plan)}, table_at_{table_at}, seed_{seed} {}

  /// Reads all fields of a block. A field that cannot be read stays marked as missing; the device
  /// then reports the samples that need it.
  /// @param index In the epoch's order of blocks. @param load Number of the block in the slot.
  void read(staging_slot& slot, std::uint64_t epoch, std::uint64_t index,
            std::uint32_t load) noexcept;
  /// Reads a chunk that windows are cut from. If that fails, it stays marked as missing, and so do
  /// the windows that need it. @param number Index in the slot's chunks.
  void read_chunk(staging_slot& slot, std::uint64_t epoch, std::uint32_t number) noexcept;
  /// Context of the sample that is the block at an index, if blocks are samples.
  [[nodiscard]] sample_context context_of(std::uint64_t epoch, std::uint64_t index,
                                          sample_index block) const noexcept {
    return {seed_, epoch, block, plan_->order.in_epoch(index)};
  }
  /// The exception that reading a sample's block threw in an epoch, if it failed; null also if too
  /// many blocks failed. Any thread.
  [[nodiscard]] std::exception_ptr failure(std::uint64_t epoch, sample_index sample) const;
  /// A position that needs a block, for messages about delayed reads; where windows are mixed, some
  /// position of about its window. @param index In the epoch's order of blocks.
  [[nodiscard]] position needed_at(std::uint64_t index) const noexcept {
    return position{index * plan_->order.rows()};
  }

 private:
  using place = std::pair<std::uint64_t, std::uint64_t>;  ///< epoch and block

  void keep(place of, std::exception_ptr why) noexcept;

  std::shared_ptr<const block_plan> plan_;
  std::size_t table_at_;
  std::uint64_t seed_;
  mutable std::mutex mutex_;
  std::map<place, std::exception_ptr> failures_;  ///< guarded by the lock
};

}  // namespace feedline::detail
