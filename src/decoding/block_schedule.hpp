#pragma once

#include <feedline/index.hpp>

#include "decoding/block_plan.hpp"
#include "decoding/block_reader.hpp"
#include "decoding/carried_blocks.hpp"
#include "decoding/window_planner.hpp"
#include "reader/batch_sizer.hpp"
#include "staging/slot_blocks.hpp"
#include "staging/staging_slot.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace feedline::detail {

/// Decides which blocks are sent with which ticket, where the device decodes them.
///
/// A ticket carries all blocks of the windows that its samples are in, except those that an earlier
/// ticket of the epoch carried. Blocks that do not fit in a staging slot go in pieces of the
/// ticket that hold no samples, before the piece with the samples.
///
/// After its samples, in pieces of their own, come blocks for later tickets: those of a window and
/// `ahead` more, counted from the samples' progress in their own window. So the blocks of a window
/// arrive evenly while the window before it is delivered, enough blocks are in flight to be decoded
/// many at once, and samples whose blocks have arrived wait for none of these. The lead is built up
/// gradually: each ticket but the first carries up to `gain` times as many blocks as its samples
/// use, and more if its last piece has room and there are readers. Windows have the whole lead from
/// the second ticket on, since their chunks are decoded for long. With a full lead, a ticket has no
/// blocks until there are enough of them to be worth a piece.
///
/// Nothing is carried over from one epoch to the next, nor from an abandoned pass: each begins with
/// a window of its own. Threads: the slot scheduler's.
class block_schedule final : public block_feed {
 public:
  /// The usual number of device slots. So when a consumer waits for the first group of blocks while
  /// these slots are in flight, the next group is close.
  static constexpr std::uint64_t gain = 4;

  /// Borrows the reader and the sizer for its life.
  /// @param table_at Offset of the table of loads in a staging slot.
  /// @param fills Whether pieces with blocks that are ahead are filled up.
  /// @param sizer Null where all batches have one size; else blocks are single samples.
  block_schedule(std::shared_ptr<const block_plan> plan, std::size_t table_at, block_reader& reader,
                 bool fills = true, batch_sizer* sizer = nullptr);

  [[nodiscard]] std::size_t max_requests() const noexcept override {
    return max_blocks() + max_chunks();
  }
  void begin(const epoch_pass& pass, bool begins_pass, position first, position end) override;
  bool add(staging_slot& slot, slot_work& work) override;
  /// Leaves one slot free for samples, which then need not wait until blocks for later tickets are
  /// read.
  bool wants_slot(std::size_t circulating) override;
  void add_ahead(staging_slot& slot, slot_work& work) override;

 private:
  /// The most blocks of a slot.
  [[nodiscard]] std::size_t max_blocks() const noexcept { return plan_->max_loads / plan_->fields; }
  /// The most chunks of a slot.
  [[nodiscard]] std::size_t max_chunks() const noexcept {
    constexpr std::uint64_t usual = 1024;
    return plan_->windows ? std::max(plan_->max_chunks(), usual) : 0;
  }
  /// Number of blocks of a window that the samples before `end` use up.
  [[nodiscard]] static std::uint64_t passed(const block_order::window& of, position end) noexcept;
  /// Whether the ticket, whose samples have been sent, carries blocks for others.
  [[nodiscard]] bool is_due() const noexcept;
  /// Gives a piece the blocks before `end`, as far as there is room, and writes the table of loads.
  [[nodiscard]] std::shared_ptr<carried_blocks> load(staging_slot& slot, std::uint64_t end);
  void write(staging_slot& slot, std::uint64_t first);
  /// The extents of a block's row, as the batch of its sample has them.
  /// @param index In the epoch's order of blocks.
  [[nodiscard]] image_in_row row_of(std::uint64_t index);
  /// Does the same for blocks that are windows, and writes which boxes they consist of.
  void load_windows(staging_slot& slot, std::uint64_t first, carried_blocks& made);

  std::shared_ptr<const block_plan> plan_;
  std::size_t table_at_;
  block_reader& reader_;
  bool fills_;
  batch_sizer* sizer_;
  std::uint64_t lot_;                  ///< blocks that are worth a piece, roughly
  std::uint64_t epoch_ = 0;            ///< epoch of the pass that the counts below belong to
  bool begins_pass_ = false;           ///< no slot of the pass was given blocks yet
  std::uint64_t loaded_ = 0;           ///< end of the blocks sent, in the epoch's order of blocks
  std::uint64_t passed_ = 0;           ///< number of blocks that samples have used up
  std::uint64_t needed_ = 0;           ///< end of the blocks that the ticket's samples need,
  std::uint64_t due_ = 0;              ///< end of the blocks after those that should be sent by
                                       ///< now,
  std::uint64_t wanted_ = 0;           ///< and of those that follow if there is room
  std::vector<sample_index> numbers_;  ///< block numbers of a piece
  std::optional<window_planner> windows_;  ///< none: blocks are no windows
  std::vector<planned_window> planned_;    ///< windows of a piece
  /// Windows that were planned and found no room; planning one again would count its chunks twice.
  std::size_t kept_ = 0;
  std::vector<const staging_slot*> ahead_;  ///< slots that got blocks for later tickets, until they
                                            ///< are moved
};

}  // namespace feedline::detail
