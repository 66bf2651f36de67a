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

/// Counts the samples that could not be read, as the batches are dealt in which they were to be.
/// Consumer's thread, but for `count`.
class failure_tally {
 public:
  /// @param listed Failures that are kept, the first ones.
  explicit failure_tally(std::size_t listed) noexcept : listed_{listed} {}

  /// An epoch begins; what was not dealt of the one before never counts.
  void begin(const epoch_losses& before) noexcept {
    losses_ = before;
    epoch_batches_ = std::numeric_limits<std::uint64_t>::max();
    of_slot_.reset();
  }
  /// The next slot of the epoch is there. @param of_slot Null: nothing was amiss.
  void accept(std::shared_ptr<const slot_repairs> of_slot) {
    end();
    of_slot_ = std::move(of_slot);
    counted_ = 0;
    if (of_slot_) epoch_batches_ = of_slot_->epoch_batches;
  }
  /// Something was amiss with the slot.
  [[nodiscard]] bool has_more() const noexcept { return of_slot_ != nullptr; }
  /// The slot's samples before a place of it were dealt.
  void dealt(std::uint64_t before) {
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
  /// Nothing of the slot is dealt any more: failures that left no batch to deal count too.
  void end() {
    const epoch_losses of_dealt = losses_;
    dealt(std::numeric_limits<std::uint64_t>::max());
    losses_ = of_dealt;
    of_slot_.reset();
  }

  /// Of the epoch, before its next batch.
  [[nodiscard]] const epoch_losses& losses() const noexcept { return losses_; }
  /// Batches of the epoch, as far as it is known; the most there can be if nothing was amiss.
  [[nodiscard]] std::uint64_t epoch_batches() const noexcept { return epoch_batches_; }
  [[nodiscard]] const failure_report& report() const noexcept { return report_; }
  /// As `report().count`. Any thread.
  [[nodiscard]] std::uint64_t count() const noexcept {
    return count_.load(std::memory_order_relaxed);
  }

 private:
  std::size_t listed_;
  epoch_losses losses_;
  std::uint64_t epoch_batches_ = std::numeric_limits<std::uint64_t>::max();
  std::shared_ptr<const slot_repairs> of_slot_;
  std::size_t counted_ = 0;  ///< of its failures
  failure_report report_;
  std::atomic<std::uint64_t> count_{0};  ///< the report's, for other threads
};

}  // namespace feedline::detail
