#pragma once

#include <feedline/index.hpp>

#include "staging/block_plan.hpp"
#include "staging/staging_slot.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace feedline::detail {

/// Decides which blocks are sent with which ticket, where the device decodes them.
///
/// A ticket carries all blocks of the windows that its samples are in, except those that an earlier
/// ticket of the epoch carried. Blocks that do not fit in a staging slot go in pieces of the ticket
/// that hold no samples, before the piece with the samples.
///
/// After its samples, in pieces of their own, come blocks for later tickets: those of a window and
/// `ahead` more, counted from the samples' progress in their own window. So the blocks of a window
/// arrive evenly while the window before it is delivered, enough blocks are in flight to be decoded
/// many at once, and samples whose blocks have arrived wait for none of these. The lead is built up
/// gradually: each ticket but the first carries up to `gain` times as many blocks as its samples
/// use, and more if its last piece has room and there are readers. With a full lead, a ticket
/// carries no blocks until there are enough of them to be worth a piece.
///
/// Nothing is carried over from one epoch to the next, nor from an abandoned pass: each begins with
/// a window of its own. Threads: the slot scheduler's.
class block_schedule {
 public:
  /// The usual number of device slots. So when a consumer waits for the first group of blocks while
  /// these slots are in flight, the next group is close.
  static constexpr std::uint64_t gain = 4;

  /// @param table_at Offset of the table of loads in a staging slot.
  /// @param fills Whether pieces with blocks that are ahead are filled up.
  block_schedule(std::shared_ptr<const block_plan> plan, std::size_t table_at, bool fills = true);

  /// Begins a ticket. @param first, end Positions of its samples.
  void begin(const std::shared_ptr<epoch_run>& run, position first, position end);
  /// Gives a piece of the ticket blocks that its samples need: writes the table of loads, and
  /// records the blocks in `work`.
  /// @param slot Claimed, not open yet.
  /// @return Whether all of them have been sent with this piece: then the samples may be, too.
  bool load(staging_slot& slot, slot_work& work);
  /// Whether the ticket, whose samples have been sent, carries blocks for others.
  [[nodiscard]] bool is_due() const noexcept;
  /// Gives a piece such blocks, at least one, in the same way. Only if `is_due`.
  void load_ahead(staging_slot& slot, slot_work& work);

  /// The most requests of a slot that are blocks.
  [[nodiscard]] std::size_t max_requests() const noexcept {
    return plan_->max_loads / plan_->fields;
  }

 private:
  /// Number of blocks of a window that the samples before `end` use up.
  [[nodiscard]] static std::uint64_t passed(const block_order::window& of, position end) noexcept;
  /// Gives a piece the blocks before `end`, as far as there is room.
  void load(staging_slot& slot, slot_work& work, std::uint64_t end);
  void write(staging_slot& slot, std::uint64_t first) const;

  std::shared_ptr<const block_plan> plan_;
  std::size_t table_at_;
  bool fills_;
  std::uint64_t lot_;                  ///< blocks that are worth a piece, roughly
  std::shared_ptr<epoch_run> run_;     ///< the pass that the counts below belong to
  std::uint64_t loaded_ = 0;           ///< end of the blocks sent, in the epoch's order of blocks
  std::uint64_t passed_ = 0;           ///< number of blocks that samples have used up
  std::uint64_t needed_ = 0;           ///< end of the blocks that the ticket's samples need,
  std::uint64_t due_ = 0;              ///< end of the blocks after those that should be sent by
                                       ///< now,
  std::uint64_t wanted_ = 0;           ///< and of those that follow if there is room
  std::vector<sample_index> numbers_;  ///< block numbers of a piece
};

}  // namespace feedline::detail
