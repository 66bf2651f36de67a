#pragma once

#include <feedline/index.hpp>

#include "detail/channel.hpp"
#include "reader/active_readers.hpp"
#include "reader/batch_sizer.hpp"
#include "reader/epoch_schedule.hpp"
#include "staging/request_layout.hpp"
#include "staging/slot_blocks.hpp"
#include "staging/staging_ring.hpp"
#include "statistics/stage_clock.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

namespace feedline::detail {

/// Decides how many batches the next slot takes, where the user leaves it open. A slot's first
/// batch waits for its last, so a slot should take its readers a few milliseconds at most: one
/// batch a slot for slow readers, and as many as there is room for if readers are fast, which makes
/// large copies.
///
/// It measures the time from a slot's opening until its requests are taken and a reader asks for
/// more. Time spent waiting for a free slot or for an epoch is excluded, so a slow consumer changes
/// nothing. Slots with fewer requests than there are readers are taken at once, so they grow until
/// all readers have work. Owns no clock. Threads: the slot scheduler's.
class slot_growth {
 public:
  using duration = std::chrono::nanoseconds;
  /// A slot that was taken in less time may become two ...
  static constexpr duration short_time = std::chrono::milliseconds{1};
  /// ... and one that took more is halved.
  static constexpr duration long_time = std::chrono::milliseconds{4};

  /// @param most Batches that a slot has room for, at least 1.
  explicit slot_growth(std::uint64_t most) noexcept : most_{most} {}

  /// Batches of the next slot.
  /// @param after_pause Nothing was read just before it, so the consumer waits for its first batch.
  [[nodiscard]] std::uint64_t next(bool after_pause) const noexcept {
    return after_pause ? 1 : size_;
  }

  /// Records how long readers took for the last slot.
  /// @param batches Batches of that slot, at least 1 and no more than `next` returned.
  void learn(std::uint64_t batches, duration taken_in) noexcept {
    if (taken_in < short_time) {
      size_ = std::max(size_, batches > most_ / 2 ? most_ : 2 * batches);
    } else {
      size_ = taken_in > long_time ? std::max<std::uint64_t>(batches / 2, 1) : batches;
    }
  }

 private:
  std::uint64_t most_;
  std::uint64_t size_ = 1;
};

/// Gives readers their next request, and turns tickets into requests when there are none left.
///
/// A reader that finds nothing to do opens the next ticket, or the next piece of a ticket that is
/// larger than a staging slot: it claims a staging slot, waiting for the slot's last copy if
/// necessary, and offers the slot's requests to all readers. One reader opens at a time while the
/// others sleep. So each thread waits for one thing only, and no thread only waits. One reader is
/// woken per request.
///
/// The number of batches of a ticket is decided when it is opened (`slot_growth`), unless the user
/// set it, or rows need not be read: then slots are full.
class slot_scheduler {
 public:
  using clock = std::function<std::chrono::steady_clock::time_point()>;

  /// Borrows the schedule, the ring, the feed and the sizer for its life.
  /// @param cached Null where no rows are cached. @param now The current time, for slots that grow.
  /// @param feed Null where the device decodes no blocks.
  /// @param sizer Null where all batches have one size.
  slot_scheduler(const slot_plan& plan, epoch_schedule& schedule, staging_ring& staging,
                 std::shared_ptr<const device_row_cache> cached = nullptr,
                 clock now = std::chrono::steady_clock::now, block_feed* feed = nullptr,
                 batch_sizer* sizer = nullptr);

  /// The next request, in ticket order; blocks. Nothing once the schedule or the ring is closed and
  /// all offered requests are taken. Any reader.
  /// @param reader The caller's; null: nothing is measured.
  [[nodiscard]] std::optional<request> next(stage_clock* reader = nullptr);

  /// Closes the schedule and the ring too: all readers wake, whatever they wait for, and end once
  /// all offered requests are taken. Any thread.
  void close() noexcept {
    schedule_.close();
    staging_.close();
    requests_.close();
    active_.close();
  }

  /// Controls which readers may call `next`: at first all. A slot is cut for the active ones.
  [[nodiscard]] active_readers& active() noexcept { return active_; }

 private:
  /// A ticket whose pieces are being opened. It is opened to its end even if it is no longer
  /// wanted: then its pieces pass unread.
  struct begun_ticket {
    scheduled_ticket ticket;
    std::uint64_t batches;
    std::uint64_t samples;
    request_layout pieces;
    std::shared_ptr<const ticket_sizes> sizes = {};  ///< computed with the first piece
    std::uint64_t next_piece = 0;
    bool opened = false;  ///< some piece was opened

    /// All pieces were opened. The ticket is kept while its feed may have something to add.
    [[nodiscard]] bool is_done() const noexcept { return next_piece == pieces.requests(samples); }
  };
  /// A ticket that was opened.
  struct opened_ticket {
    std::shared_ptr<epoch_pass> pass;
    std::uint64_t batches;
    std::chrono::steady_clock::time_point at;
    bool is_learnt = false;
  };

  /// The number of requests offered; 0: there is nothing left to open.
  std::size_t open_next(stage_clock* reader);
  [[nodiscard]] bool begin_next(stage_clock* reader);
  std::size_t open_piece(slot_index slot);
  /// Whether a slot with blocks for later tickets follows the begun ticket.
  [[nodiscard]] bool brings_ahead() const;
  std::size_t open_ahead(slot_index slot);
  std::size_t offer(slot_index slot, slot_work work);
  void learn_from_last();
  [[nodiscard]] std::uint64_t batches_of(const scheduled_ticket& next) const;

  const slot_plan plan_;
  const request_partition partition_;
  block_feed* const feed_;    ///< guarded by the lock below
  batch_sizer* const sizer_;  ///< guarded by it, too
  epoch_schedule& schedule_;
  staging_ring& staging_;
  channel<request> requests_;
  std::atomic<bool> opening_{false};  ///< a reader opens; a lock whose waiters wait for requests
  active_readers active_;
  clock now_;
  slot_growth growth_;                 ///< guarded by that lock
  std::optional<begun_ticket> begun_;  ///< guarded by that lock
  std::optional<opened_ticket> last_;  ///< guarded by that lock
};

}  // namespace feedline::detail
