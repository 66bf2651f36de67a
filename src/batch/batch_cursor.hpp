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

/// Deals the batches of one epoch after the other out of the slots that the transfer delivers.
/// Consumer's thread only.
class batch_cursor {
 public:
  /// @param listed Failures of error policies that are kept.
  explicit batch_cursor(std::shared_ptr<device_ring> ring, std::size_t listed = 0)
      : ring_{std::move(ring)}, tally_{listed} {}
  batch_cursor(const batch_cursor&) = delete;
  batch_cursor& operator=(const batch_cursor&) = delete;
  ~batch_cursor() { let_go(); }

  /// Starts on an epoch: what is left of the one before is let go.
  void begin(std::shared_ptr<epoch_run> run, stream_ref stream) {
    let_go();
    run_ = std::move(run);
    stream_ = stream;
    failure_.reset();
    if (exposed_time* const exposed = ring_->exposed()) exposed->give_up();
    dealt_ = 0;
    tally_.begin(run_ ? run_->losses_before : epoch_losses{});
  }
  [[nodiscard]] stream_ref stream() const noexcept { return stream_; }
  /// The epoch begun last; null if none.
  [[nodiscard]] const std::shared_ptr<epoch_run>& run() const noexcept { return run_; }

  /// The next batch if the slot at hand has one; never blocks.
  [[nodiscard]] std::optional<batch> deal() {
    if (!slot_) return std::nullopt;
    std::optional<batch> dealt{ring_->lease_batch(*slot_, next_)};
    ++next_;
    ++dealt_;
    if (tally_.has_more()) tally_.dealt(next_ * ring_->format().layout.batch_size());
    if (next_ == (*ring_)[*slot_].content.batches) let_go();
    return dealt;
  }
  /// Takes the next slot: if it holds batches of the epoch begun, they are dealt from now on; if
  /// not, it goes back.
  /// @throws stage_error if the device fails.
  void accept(slot_index slot) {
    slot_content& content = (*ring_)[slot].content;
    const bool wanted = content.run == run_;
    if (wanted) {
      failure_ = std::exchange(content.failure, std::nullopt);
      tally_.accept(content.repairs);
    }
    if (!wanted || content.batches == 0) return ring_->discard(slot);
    ring_->lease(slot, stream_);
    slot_ = slot;
    next_ = 0;
  }
  /// Once the slot at hand is dealt: why the next batch cannot be, if it cannot.
  [[nodiscard]] std::optional<failure> take_failure() {
    if (failure_) tally_.end();
    return std::exchange(failure_, std::nullopt);
  }
  /// Whether all of the epoch's batches were dealt. @param batches Unless samples were left out.
  [[nodiscard]] bool at_end(std::uint64_t batches) {
    if (run_->first_batch + dealt_ < std::min(batches, tally_.epoch_batches())) return false;
    tally_.end();
    return true;
  }
  /// Deals no more of the slot at hand. Uses no stream: the consumer's may be gone.
  void let_go() noexcept {
    if (slot_) ring_->let_go(*std::exchange(slot_, std::nullopt));
  }

  /// Batches dealt of the epoch begun last.
  [[nodiscard]] std::uint64_t dealt() const noexcept { return dealt_; }
  /// What could not be read in these, and before them in the epoch.
  [[nodiscard]] const epoch_losses& losses() const noexcept { return tally_.losses(); }
  /// The same in all epochs.
  [[nodiscard]] const failure_report& failures() const noexcept { return tally_.report(); }
  /// As `failures().count`. Any thread.
  [[nodiscard]] std::uint64_t unreadable() const noexcept { return tally_.count(); }

 private:
  std::shared_ptr<device_ring> ring_;
  std::shared_ptr<epoch_run> run_;
  stream_ref stream_;
  std::optional<slot_index> slot_;  ///< the slot at hand, held
  std::uint64_t next_ = 0;          ///< place of the next batch in it
  std::uint64_t dealt_ = 0;
  std::optional<failure> failure_;  ///< of the batch behind the slot at hand
  failure_tally tally_;
};

}  // namespace feedline::detail
