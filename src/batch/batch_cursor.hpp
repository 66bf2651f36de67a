#pragma once

#include <feedline/batch/batch.hpp>
#include <feedline/device/stream_ref.hpp>
#include <feedline/index.hpp>

#include "batch/device_ring.hpp"
#include "batch/failure_tally.hpp"
#include "detail/failure.hpp"
#include "staging/staging_slot.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

namespace feedline::detail {

/// Hands out the batches of one epoch after another from the slots that the transfer delivers.
/// Consumer's thread only.
class batch_cursor {
 public:
  /// @param listed Number of error policies' failures that are kept.
  explicit batch_cursor(std::shared_ptr<device_ring> ring, std::size_t listed = 0)
      : ring_{std::move(ring)}, tally_{listed} {}
  batch_cursor(const batch_cursor&) = delete;
  batch_cursor& operator=(const batch_cursor&) = delete;
  ~batch_cursor() { let_go(); }

  /// Starts an epoch: the rest of the one before is released.
  void begin(std::shared_ptr<epoch_pass> pass, stream_ref stream) {
    let_go();
    pass_ = std::move(pass);
    stream_ = stream;
    failure_.reset();
    if (exposed_time* const exposed = ring_->exposed()) exposed->give_up();
    handed_out_ = 0;
    is_last_slot_ = false;
    tally_.begin(pass_ ? pass_->losses_before : epoch_losses{});
  }
  [[nodiscard]] stream_ref stream() const noexcept { return stream_; }
  /// The epoch begun last; null if none.
  [[nodiscard]] const std::shared_ptr<epoch_pass>& pass() const noexcept { return pass_; }

  /// Whether the current slot has a batch to hand out.
  [[nodiscard]] bool has_batch() const noexcept { return slot_.has_value(); }
  /// The next batch, if the current slot has one; never blocks.
  [[nodiscard]] optional_lease<batch> hand_out() {
    optional_lease<batch> handed_out;
    if (!has_batch()) return handed_out;
    handed_out.emplace(ring_->lease_batch(*slot_, next_));
    ++next_;
    ++handed_out_;
    tally_.handed_out(next_ * ring_->format().layout.batch_size());
    if (next_ == (*ring_)[*slot_].content.batches) let_go();
    return handed_out;
  }
  /// Takes the next slot: its batches are handed out from now on. If its epoch pass was abandoned,
  /// it is freed.
  /// @throws stage_error if the device fails.
  void accept(slot_index slot) {
    slot_content& content = (*ring_)[slot].content;
    const bool wanted = !content.pass->abandoned.load();
    if (wanted) {
      failure_ = std::exchange(content.failure, std::nullopt);
      tally_.accept(content.repairs);
      is_last_slot_ = content.live && content.live->is_end;
    }
    if (!wanted || content.batches == 0) return ring_->discard(slot);
    ring_->lease(slot, stream_);
    slot_ = slot;
    next_ = 0;
  }
  /// Once the current slot is handed out: why the next batch cannot be delivered, if it cannot.
  [[nodiscard]] std::optional<failure> take_failure() {
    if (failure_) tally_.end();
    return std::exchange(failure_, std::nullopt);
  }
  /// Whether all of the epoch's batches were handed out. @param batches Batches of the epoch,
  /// unless samples were left out.
  [[nodiscard]] bool at_end(std::uint64_t batches) {
    const std::uint64_t end = std::min(batches, tally_.epoch_batches());
    if (!is_last_slot_ && pass_->first_batch + handed_out_ < end) return false;
    tally_.end();
    return true;
  }
  /// Hands out no more of the current slot. Uses no stream: the consumer's may be destroyed.
  void let_go() noexcept {
    if (slot_) ring_->let_go(*std::exchange(slot_, std::nullopt));
  }

  /// Batches handed out of the current epoch.
  [[nodiscard]] std::uint64_t handed_out() const noexcept { return handed_out_; }
  /// Samples that could not be read in these, and before them in the epoch.
  [[nodiscard]] const epoch_losses& losses() const noexcept { return tally_.losses(); }
  /// The same over all epochs.
  [[nodiscard]] const failure_report& failures() const noexcept { return tally_.report(); }
  /// Same as `failures().count`. Any thread.
  [[nodiscard]] std::uint64_t unreadable() const noexcept { return tally_.count(); }

 private:
  std::shared_ptr<device_ring> ring_;
  std::shared_ptr<epoch_pass> pass_;
  stream_ref stream_;
  std::optional<slot_index> slot_;  ///< the current slot, held
  std::uint64_t next_ = 0;          ///< index of the next batch in it
  std::uint64_t handed_out_ = 0;
  bool is_last_slot_ = false;  ///< the pass ends with the current slot, or ended with the last one
  std::optional<failure> failure_;  ///< reason why the batch after the current slot cannot be
                                    ///< delivered
  failure_tally tally_;
};

}  // namespace feedline::detail
