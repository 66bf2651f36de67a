#pragma once

#include <feedline/error_policy.hpp>

#include "staging/slot_repairs.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <utility>

namespace feedline::detail {

/// Counts the samples that could not be read, as the batches that should contain them are handed
/// out. Consumer's thread, except for `count`.
class failure_tally {
 public:
  /// @param listed How many failures are kept: the first ones.
  explicit failure_tally(std::size_t listed) noexcept : listed_{listed} {}

  /// Begins an epoch; failures in parts of the last epoch that were not handed out never count.
  void begin(const epoch_losses& before) noexcept {
    losses_ = before;
    epoch_batches_ = std::numeric_limits<std::uint64_t>::max();
    of_slot_.reset();
  }
  /// Takes the next slot of the epoch. @param of_slot Null: nothing failed.
  void accept(std::shared_ptr<const slot_repairs> of_slot) {
    end();
    of_slot_ = std::move(of_slot);
    counted_ = 0;
    if (of_slot_) epoch_batches_ = of_slot_->epoch_batches;
  }
  /// The slot's samples with an index below this were handed out.
  void handed_out(std::uint64_t before) {
    if (!of_slot_) return;
    for (; counted_ < of_slot_->failures.size(); ++counted_) {
      const auto& [place, what, is_repeat] = of_slot_->failures[counted_];
      if (place >= before) return;
      if (!is_repeat) ++losses_.unreadable;
      if (what.action == error_action::skip) ++losses_.skipped;
      count_.store(++report_.count, std::memory_order_relaxed);
      if (report_.first.size() < listed_) report_.first.push_back(what);
    }
  }
  /// No more of the slot is handed out: failures that left no batch to hand out count too.
  void end() {
    const epoch_losses of_handed_out = losses_;
    handed_out(std::numeric_limits<std::uint64_t>::max());
    losses_ = of_handed_out;
    of_slot_.reset();
  }

  /// Losses of the epoch before its next batch.
  [[nodiscard]] const epoch_losses& losses() const noexcept { return losses_; }
  /// Batches of the epoch, as far as known; the largest possible number if nothing failed.
  [[nodiscard]] std::uint64_t epoch_batches() const noexcept { return epoch_batches_; }
  [[nodiscard]] const failure_report& report() const noexcept { return report_; }
  /// Same as `report().count`. Any thread.
  [[nodiscard]] std::uint64_t count() const noexcept {
    return count_.load(std::memory_order_relaxed);
  }

 private:
  std::size_t listed_;
  epoch_losses losses_;
  std::uint64_t epoch_batches_ = std::numeric_limits<std::uint64_t>::max();
  std::shared_ptr<const slot_repairs> of_slot_;
  std::size_t counted_ = 0;  ///< number of its failures already counted
  failure_report report_;
  std::atomic<std::uint64_t> count_{0};  ///< the report's, for other threads
};

}  // namespace feedline::detail
