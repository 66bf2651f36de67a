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

/// Says which blocks travel with which ticket, where the device decodes them.
///
/// A ticket brings all blocks of the windows that its samples are in, as far as no ticket of the
/// epoch brought them before. What of them does not fit a staging slot travels in pieces of the
/// ticket that hold no samples, before the piece that does.
///
/// Behind its samples, in pieces of their own, come blocks for tickets that follow: a window's and
/// `ahead` more, counted from where the samples have come in their own window. So the blocks of a
/// window come evenly while the window before it is delivered, and there are enough on their way to
/// be decoded many at once; and samples whose blocks are there wait for none of these. The lead is
/// gained by and by: a ticket, but for the first, brings up to `gain` times as many blocks as its
/// samples come through, and more as far as its last piece has room, if there are readers. With the
/// lead gained it brings none until they are worth a piece.
///
/// Nothing is counted on from one epoch to the next, nor from a run that was abandoned: each begins
/// with a window of its own. Threads: the slot scheduler's.
class block_schedule {
 public:
  /// As many as there usually are device slots: so when a consumer waits for the first group of
  /// blocks, with these slots on their way, the next group is not far.
  static constexpr std::uint64_t gain = 4;

  /// @param table_at Where in a staging slot the table of loads lies.
  /// @param fills Whether pieces with blocks that are ahead are filled.
  block_schedule(std::shared_ptr<const block_plan> plan, std::size_t table_at, bool fills = true);

  /// A ticket begins. @param first, end Positions of its samples.
  void begin(const std::shared_ptr<epoch_run>& run, position first, position end);
  /// Gives a piece of the ticket blocks that its samples need: writes the table of loads, and says
  /// in `work` which they are.
  /// @param slot Claimed, not open yet.
  /// @return Whether all have come with this piece: then the samples may, too.
  bool load(staging_slot& slot, slot_work& work);
  /// Whether the ticket, whose samples have come, brings blocks for others.
  [[nodiscard]] bool is_due() const noexcept;
  /// Gives a piece such blocks, at least one, likewise. Only if `is_due`.
  void load_ahead(staging_slot& slot, slot_work& work);

  /// Requests of a slot, at most, that are blocks.
  [[nodiscard]] std::size_t max_requests() const noexcept {
    return plan_->max_loads / plan_->fields;
  }

 private:
  /// How many places the samples before `end` come to, which are of a window.
  [[nodiscard]] static std::uint64_t passed(const block_order::window& of, position end) noexcept;
  /// Gives a piece the blocks before `end`, as far as there is room.
  void load(staging_slot& slot, slot_work& work, std::uint64_t end);
  void write(staging_slot& slot, std::uint64_t first) const;

  std::shared_ptr<const block_plan> plan_;
  std::size_t table_at_;
  bool fills_;
  std::uint64_t lot_;                  ///< blocks that are worth a piece, about
  std::shared_ptr<epoch_run> run_;     ///< whose blocks are counted
  std::uint64_t loaded_ = 0;           ///< the place behind the last block that came
  std::uint64_t passed_ = 0;           ///< the place that samples have come to
  std::uint64_t needed_ = 0;           ///< up to here by the ticket's samples,
  std::uint64_t due_ = 0;              ///< up to here behind them, at least,
  std::uint64_t wanted_ = 0;           ///< and up to here as far as there is room
  std::vector<sample_index> numbers_;  ///< of a piece's blocks
};

}  // namespace feedline::detail
