#pragma once

#include <feedline/dataset/image_size.hpp>
#include <feedline/error.hpp>
#include <feedline/index.hpp>

#include "detail/failure.hpp"
#include "device/owned.hpp"
#include "io/far_reads.hpp"
#include "queue/live_source.hpp"
#include "staging/request_layout.hpp"
#include "staging/slot_blocks.hpp"
#include "staging/slot_repairs.hpp"

#include <array>
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

/// One pass over an epoch through the pipeline. Shared by the schedule, the slots that hold its
/// batches, and its range.
struct epoch_pass {
  explicit epoch_pass(std::uint64_t number, std::uint64_t from_batch = 0,
                      epoch_losses before = {}) noexcept
      : epoch{number}, first_batch{from_batch}, losses_before{before}, losses{before} {}
  epoch_pass(const epoch_pass&) = delete;
  epoch_pass& operator=(const epoch_pass&) = delete;
  ~epoch_pass() { abandon(); }

  /// Its batches are not wanted any more, nor is what was hinted for it. Any thread.
  void abandon() noexcept {
    if (!abandoned.exchange(true)) forget_hints();
  }
  void forget_hints() const noexcept {
    pass_listener* const listener = pass_listener::of_process();
    if (listener != nullptr && hinted.load() != 0) listener->pass_ended(id);
  }

  const std::uint64_t id = next_pass();  ///< unique in this process
  const std::uint64_t epoch;
  /// First batch: 0, or after a seek the number of a later batch, or of all batches.
  const std::uint64_t first_batch;
  /// Losses before its first batch.
  const epoch_losses losses_before;
  /// Losses before the next slot in line. The transfer's alone.
  epoch_losses losses;
  /// The last batch with replaced samples, and how much of the epoch would be delivered when that
  /// batch began. The transfer's alone.
  begun_batch last_replaced = {};
  /// Its batches are not wanted any more: readers need not read them, the transfer need not copy
  /// them. Set once, by `abandon`; read by all.
  std::atomic<bool> abandoned{false};
  /// Positions up to here were hinted to the dataset (`read_ahead`), or need no hint. Readers.
  std::atomic<std::uint64_t> hinted{0};
  /// All of its batches were delivered. The consumer's alone.
  bool ended = false;
};

/// The height and width of images in each batch of a ticket, where they differ from batch to batch.
struct ticket_sizes {
  std::uint64_t batch_size = 1;
  std::vector<image_size> of_batches = {};
};

/// The content of a slot, staging or device: the batches of one ticket, or in a staging slot a
/// piece of them.
struct slot_work {
  std::shared_ptr<epoch_pass> pass;
  feedline::ticket ticket = {};
  position first = {};            ///< position of its first sample in the epoch's order
  std::uint64_t first_batch = 0;  ///< number within the epoch
  std::uint64_t samples = 0;
  std::uint64_t batches = 0;  ///< number of batches that it holds, or holds a part of
  std::uint64_t begin = 0;    ///< samples of the ticket before its first
  bool ends_ticket = true;    ///< no samples of the ticket follow its last
  /// The samples that a live source gave. Set by the reader of the slot's only request; empty where
  /// samples are read by their indices.
  std::optional<live_source::taken> live = {};
  request_layout layout{1, 1};               ///< how it is divided into requests
  std::shared_ptr<slot_blocks> blocks = {};  ///< null where the device decodes none
  /// Computed when the ticket is opened; null where all batches have one size.
  std::shared_ptr<const ticket_sizes> sizes = {};

  /// The size of the images of a sample. @param sample Its index in the slot.
  [[nodiscard]] std::optional<image_size> size_at(std::uint64_t sample) const noexcept {
    if (!sizes) return std::nullopt;
    return sizes->of_batches[(begin + sample) / sizes->batch_size];
  }

  /// Number of requests for samples; after them there is one for each block.
  [[nodiscard]] std::uint32_t sample_requests() const noexcept {
    return static_cast<std::uint32_t>(layout.requests(samples));
  }
  [[nodiscard]] std::uint32_t block_requests() const noexcept {
    return blocks ? blocks->requests() : 0;
  }
  [[nodiscard]] std::uint32_t requests() const noexcept {
    return sample_requests() + block_requests();
  }
  /// Whether it holds only blocks, for later tickets.
  [[nodiscard]] bool is_ahead() const noexcept { return blocks && blocks->is_ahead(); }
  /// Whether it may pass a slot that is ahead and stands before it in line.
  [[nodiscard]] bool may_pass(const slot_work& ahead) const noexcept {
    return ahead.is_ahead() && pass == ahead.pass && blocks && blocks->may_pass(*ahead.blocks);
  }
  /// The location of a failure of a stage at one of its batches.
  [[nodiscard]] stage_location at(feedline::stage stage, std::uint64_t batch = 0) const noexcept {
    return {.stage = stage,
            .epoch = pass->epoch,
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
/// | filled  | copying | transfer: issues the copy, and records `copied` after it           |
/// | filled  | leased  | transfer: the consumer reads staging memory in place               |
/// | filled  | free    | transfer: the epoch was abandoned, or no batch is good (nor leased), |
/// |         |         | or a piece of its batch before it failed                           |
/// | copying | free    | slot scheduler: it has seen that `copied` is done                  |
/// | leased  | free    | any thread: it ends the last lease, or discards the slot           |
///
/// Invariant: readers write a slot's bytes in `filling` only, also if they are in device memory;
/// the device reads them in `copying` only, the consumer in `leased` only. A slot is in the
/// `recycled` channel exactly when it is free or copying and not claimed.
enum class staging_state : std::uint32_t { free, filling, filled, copying, leased };

/// Why a slot cannot be delivered whole.
struct slot_failure : failure {
  position first;              ///< position of the failing run's first sample in the epoch's order
  std::uint64_t good_batches;  ///< batches of the slot before the failing one
};

/// One slot of the staging ring. The state table says which thread writes the members before a
/// transition.
struct staging_slot {
  static constexpr auto name = "a staging slot";
  static constexpr auto ring_name = "a staging ring";

  explicit staging_slot(const device_ptr& device) : copied{device} {}
  [[nodiscard]] std::array<event_handle, 1> last_events() const noexcept { return {copied.get()}; }

  std::atomic<staging_state> state{staging_state::free};
  std::byte* data = nullptr;
  event copied;  ///< recorded after the slot's last copy
  /// Issued work with the slot is followed by no event: its memory is never used again, nor freed.
  /// Transfer.
  bool lost = false;
  slot_work work{};
  std::chrono::steady_clock::time_point opened_at = {};  ///< free → filling
  std::chrono::steady_clock::time_point filled_at = {};  ///< filling → filled
  std::atomic<std::uint32_t> requests_left{0};
  /// Where slots are assembled, bytes after the tables that readers have claimed.
  std::atomic<std::size_t> chunk_bytes{0};
  /// Samples of the slot that an error policy replaces. The transfer's, once the slot is filled.
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
  /// Whether an earlier run of samples is known to have failed: then this one need not be read. Any
  /// reader of the slot.
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
  std::atomic<std::uint64_t> failed_at_{nowhere};  ///< position of `failure_`, for checking without
                                                   ///< the lock
};

}  // namespace feedline::detail
