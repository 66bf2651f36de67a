#pragma once

#include <feedline/error.hpp>
#include <feedline/index.hpp>

#include "detail/failure.hpp"
#include "device/owned.hpp"
#include "staging/request_layout.hpp"
#include "staging/slot_repairs.hpp"

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

namespace feedline::detail {

/// One epoch on its way through the pipeline. Shared by the schedule, the slots that hold its
/// batches and its range.
struct epoch_run {
  explicit epoch_run(std::uint64_t number, std::uint64_t from_batch = 0,
                     epoch_losses before = {}) noexcept
      : epoch{number}, first_batch{from_batch}, losses_before{before}, losses{before} {}

  const std::uint64_t epoch;
  /// Where it begins: 0, or after a seek the number of a later batch, or that of all batches.
  const std::uint64_t first_batch;
  /// Before its first batch.
  const epoch_losses losses_before;
  /// Before the next slot in line. The transfer's alone.
  epoch_losses losses;
  /// The last batch of which samples were replaced: how much of the epoch was to be delivered as it
  /// began. The transfer's alone.
  begun_batch mended = {};
  /// Nobody will take its batches: readers need not read them, the transfer need not copy them. Set
  /// once, by the consumer; read by all.
  std::atomic<bool> abandoned{false};
  /// Positions up to here were hinted to the dataset (`read_ahead`), or need not be. Readers.
  std::atomic<std::uint64_t> hinted{0};
  /// Every batch of it was delivered. The consumer's alone.
  bool ended = false;
};

/// What a slot, staging or device, is filled with: the batches of one ticket, or in a staging slot
/// a piece of them.
struct slot_work {
  std::shared_ptr<epoch_run> run;
  feedline::ticket ticket = {};
  position first = {};            ///< of its first sample, in the epoch's order
  std::uint64_t first_batch = 0;  ///< number within the epoch
  std::uint64_t samples = 0;
  std::uint64_t batches = 0;     ///< that it holds, or holds a part of
  std::uint64_t begin = 0;       ///< samples of the ticket before its first
  bool ends_ticket = true;       ///< there are none behind its last
  request_layout layout{1, 1};   ///< how it is cut into requests
  std::uint64_t first_load = 0;  ///< place, in the epoch's order of blocks, of the first one in it
  std::uint32_t loads = 0;       ///< blocks in it for the device to decode, behind each other
  std::size_t load_bytes = 0;    ///< that these take, with their table
  std::uint64_t needed_end = 0;  ///< the place behind the last block that its samples are in
  /// It holds blocks alone, for tickets behind its own: slots that do not need them may pass it.
  bool is_ahead = false;

  /// Requests of samples; behind them there is one for each block.
  [[nodiscard]] std::uint32_t sample_requests() const noexcept {
    return static_cast<std::uint32_t>(layout.requests(samples));
  }
  [[nodiscard]] std::uint32_t requests() const noexcept { return sample_requests() + loads; }
  /// Whether it may go before one that is ahead, and stands before it in line.
  [[nodiscard]] bool may_pass(const slot_work& ahead) const noexcept {
    return ahead.is_ahead && loads == 0 && run == ahead.run && needed_end <= ahead.first_load;
  }
  /// Where a stage is that fails at one of its batches.
  [[nodiscard]] stage_location at(feedline::stage stage, std::uint64_t batch = 0) const noexcept {
    return {.stage = stage,
            .epoch = run->epoch,
            .ticket = ticket.value,
            .batch = first_batch + batch,
            .path = {}};
  }
};

/// The states of a staging slot.
///
/// | from    | to      | who, when                                                          |
/// | ------- | ------- | ------------------------------------------------------------------ |
/// | free    | filling | slot scheduler: gives the slot a ticket, offers its requests       |
/// | filling | filled  | reader: it ends the slot's last request                            |
/// | filled  | copying | transfer: issues the copy, and records `copied` behind it          |
/// | filled  | lent    | transfer: the consumer reads staging memory in place               |
/// | filled  | free    | transfer: the epoch was abandoned, or no batch is good (nor lent), |
/// |         |         | or a piece of its batch before it failed                           |
/// | copying | free    | slot scheduler: it has seen that `copied` is done                  |
/// | lent    | free    | any thread: it ends the last lease, or discards the slot           |
///
/// Invariant: readers write a slot's bytes in `filling` only, those in device memory too; the
/// device reads them in `copying` only, the consumer in `lent` only. A slot is in the `recycled`
/// channel exactly when it is free or copying and nobody has claimed it.
enum class staging_state : std::uint32_t { free, filling, filled, copying, lent };

/// Why a slot cannot be delivered whole.
struct slot_failure : failure {
  position first;              ///< of the failing run of samples, in the epoch's order
  std::uint64_t good_batches;  ///< batches of the slot before the failing one
};

/// One slot of the staging ring. Members are written by whoever the state table names, before the
/// transition.
struct staging_slot {
  explicit staging_slot(const device_ptr& device) : copied{device} {}

  std::atomic<staging_state> state{staging_state::free};
  std::byte* data = nullptr;
  event copied;  ///< recorded behind the slot's last copy
  /// Work with the slot was issued that no event stands behind: its memory is never used again, nor
  /// freed. Transfer.
  bool lost = false;
  slot_work work{};
  std::chrono::steady_clock::time_point opened_at = {};  ///< free → filling
  std::chrono::steady_clock::time_point filled_at = {};  ///< filling → filled
  std::atomic<std::uint32_t> requests_left{0};
  /// Where slots are assembled, bytes behind the tables: claimed by readers, or of blocks.
  std::atomic<std::size_t> chunk_bytes{0};
  /// Where an error policy is to mend the slot. The transfer's, once the slot is filled.
  std::vector<unreadable_sample> unreadable;

  /// Adds samples that could not be read. Any reader of the slot.
  void mark(std::vector<unreadable_sample>& found) {
    const std::scoped_lock lock{failure_mutex_};
    for (unreadable_sample& each : found) unreadable.push_back(std::move(each));
  }

  /// Keeps the failure that stands first in the epoch's order. Any reader of the slot.
  void fail(slot_failure failure) {
    const std::scoped_lock lock{failure_mutex_};
    if (failure_ && failure_->first <= failure.first) return;
    failed_at_.store(failure.first.value, std::memory_order_relaxed);
    failure_ = std::move(failure);
  }
  /// Whether a run of samples before this one failed already, as far as is known here: then it need
  /// not be read. Any reader of the slot.
  [[nodiscard]] bool failed_before(position first) const noexcept {
    return failed_at_.load(std::memory_order_relaxed) < first.value;
  }
  /// Takes the failure out, if there is one. Transfer.
  [[nodiscard]] std::optional<slot_failure> take_failure() {
    const std::scoped_lock lock{failure_mutex_};
    failed_at_.store(nowhere, std::memory_order_relaxed);
    return std::exchange(failure_, std::nullopt);
  }

 private:
  static constexpr auto nowhere = std::numeric_limits<std::uint64_t>::max();

  std::mutex failure_mutex_;
  std::optional<slot_failure> failure_;
  std::atomic<std::uint64_t> failed_at_{nowhere};  ///< `failure_`'s, for asking without the lock
};

}  // namespace feedline::detail
