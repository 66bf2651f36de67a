#pragma once

#include <feedline/index.hpp>

#include "staging/staging_slot.hpp"
#include "statistics/stage_clock.hpp"

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>

namespace feedline::detail {

/// The ticket of an epoch that is opened next. The slot scheduler decides how many batches it
/// takes.
struct scheduled_ticket {
  std::shared_ptr<epoch_pass> pass;
  feedline::ticket ticket;
  std::uint64_t first_batch;  ///< number within the epoch
  bool waited;                ///< there was nothing to open for some time
};

/// Decides which epochs are read and in what order, and counts how far they have been opened.
///
/// The consumer asks for epochs by `claim`. If the number of epochs is known, the one after the
/// last claimed is read ahead as well, in the hope that it will be claimed next; if a different one
/// is claimed, it is abandoned. Threads: `take` and `opened` by one slot scheduler at a time,
/// `close`, `after` and `await_abandoned` by any, the rest by the consumer. One lock guards
/// everything; it is taken once a slot, and near an epoch's end once a request of far storage.
class epoch_schedule {
 public:
  /// @param batches_per_epoch At least 1.
  /// @param epochs            Epochs 0 to n-1 are expected in order; 0: unknown.
  epoch_schedule(std::uint64_t batches_per_epoch, std::uint64_t epochs);

  /// Puts an epoch in line. After `close` it is never opened.
  /// @param first_batch First batch to open.
  /// @param before Samples that could not be read in the batches before.
  [[nodiscard]] std::shared_ptr<epoch_pass> claim(std::uint64_t epoch,
                                                  std::uint64_t first_batch = 0,
                                                  epoch_losses before = {});
  /// Abandons all epochs in line: nothing is read until another one is claimed.
  void abandon_all();
  /// The same. If the number of epochs is known, this epoch is expected to be claimed next, from
  /// this batch on.
  void seek(std::uint64_t epoch, std::uint64_t first_batch, epoch_losses before = {});
  /// Makes a claimed epoch the first in line: those before it are abandoned. False if it was itself
  /// abandoned or ended.
  bool begin(const std::shared_ptr<epoch_pass>& pass);
  /// Takes an epoch out of the line: all of it was delivered, or the rest is not wanted.
  void end(const std::shared_ptr<epoch_pass>& pass);

  /// The next ticket to open; blocks until there is one. Nothing once closed. Returns the same
  /// ticket again until it was `opened`.
  /// @param clock The caller's; null: nothing is measured.
  [[nodiscard]] std::optional<scheduled_ticket> take(stage_clock* clock = nullptr);
  /// Sets how many batches the ticket that `take` gave last holds: the next ticket begins after
  /// them.
  void opened(const scheduled_ticket& taken, std::uint64_t batches);

  /// The epoch pass that follows one in line; null if none does yet. Any thread.
  [[nodiscard]] std::shared_ptr<epoch_pass> after(const epoch_pass& pass);

  /// Blocks until an epoch is abandoned, or the schedule is closed. Any thread.
  void await_abandoned(const epoch_pass& pass, stage_clock* clock = nullptr);

  /// Gives out no more tickets.
  void close() noexcept {
    const std::scoped_lock lock{mutex_};
    closed_ = true;
    changed_.notify_all();
  }

 private:
  struct entry {
    std::shared_ptr<epoch_pass> pass;
    bool claimed = false;
    std::uint64_t next_ticket = 0;
    std::uint64_t next_batch = 0;
  };

  void append(std::uint64_t epoch, std::uint64_t first_batch = 0, epoch_losses before = {}) {
    line_.push_back({.pass = std::make_shared<epoch_pass>(epoch, first_batch, before),
                     .claimed = false,
                     .next_ticket = 0,
                     .next_batch = first_batch});
  }
  void abandon_line() noexcept;
  [[nodiscard]] entry* first_unopened();

  const std::uint64_t batches_per_epoch_;
  const std::uint64_t epochs_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<entry> line_;  ///< in order of delivery; at most one is not claimed, the last
  bool closed_ = false;
};

}  // namespace feedline::detail
