#pragma once

#include <feedline/error_policy.hpp>
#include <feedline/index.hpp>
#include <feedline/sampler/partial_batch.hpp>

#include "detail/rate_limiter.hpp"
#include "reader/sample_source.hpp"
#include "reader/slot_writer.hpp"
#include "sampler/epoch_share.hpp"
#include "staging/slot_repairs.hpp"
#include "staging/staging_slot.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>

namespace feedline::detail {

/// Replaces samples that cannot be read by others.
///
/// Slots come in the order of their tickets, and samples within them in order, so a sample's
/// replacement depends only on the samples before it. With `skip`, each unreadable sample is
/// replaced by one from the epoch's end; if that cannot be read either, by the next one, and so on,
/// until the sample itself is the end. Everything past the end is cut off. All unreadable samples
/// are replaced in a batch that was going to be delivered when it began, even if
/// `partial_batch::drop` then leaves it out: its lost samples count, wherever slots end.
///
/// Reads where it must, so it may block like a reader. Threads: the transfer's.
class sample_replacer {
 public:
  /// Borrows source and writer for its life.
  /// @param share With `skip`, all of an epoch: a world of one.
  sample_replacer(const error_policy& policy, const sample_source& source, slot_writer& writer,
                  const epoch_share& share, partial_batch last)
      : policy_{policy}, source_{source}, writer_{writer}, share_{share}, last_{last} {}

  /// Whether `replace` has anything to do for a filled slot.
  [[nodiscard]] bool concerns(const staging_slot& slot) const noexcept {
    return !slot.unreadable.empty() ||
           (slot.work.pass->losses.skipped != 0 &&
            slot.work.first.value + slot.work.samples > end_of(*slot.work.pass));
  }
  /// Replaces the unreadable samples of a filled slot, up to its failure if it has one.
  /// @param failed The slot's failure. It may become one that is earlier, or none if it is past the
  /// end. An error that replacing throws stays: too many unreadable samples end the epoch, even if
  /// the batch with the last of them is cut off.
  /// @param ticket Repairs of the ticket known from the slots before it; null: none.
  void replace(staging_slot& slot, std::optional<slot_failure>& failed,
               std::shared_ptr<slot_repairs>& ticket);

  /// The current read: `first` holds the sample itself, not a position. Any thread.
  [[nodiscard]] std::optional<read_under_way> look() const noexcept { return scratch_.now.look(); }

 private:
  /// The slot and the index of the sample in it that is being replaced.
  struct work_place {
    staging_slot& slot;
    std::uint64_t place;
    slot_repairs& ticket;
  };

  /// Positions before it are delivered, except for repeats.
  [[nodiscard]] std::uint64_t end_of(const epoch_pass& pass) const noexcept {
    return policy_.action == error_action::skip ? share_.positions - pass.losses.skipped
                                                : share_.places();
  }
  /// Number of samples of the epoch that are delivered, with repeats.
  [[nodiscard]] std::uint64_t places_of(const epoch_pass& pass) const noexcept;
  void handle(const work_place& at, const unreadable_sample& bad);
  void skip(const work_place& at, const unreadable_sample& bad);
  void substitute(const work_place& at, const unreadable_sample& bad);
  /// Replaces a repeat that cannot be read by another one of the epoch's samples.
  /// @throws dataset_error if none can be read.
  void repeat_another(const work_place& at, const unreadable_sample& bad);
  /// Empty if it was written; otherwise why it cannot be read.
  [[nodiscard]] std::optional<unreadable_sample> try_replace(const work_place& at, sample_index by,
                                                             position from);
  [[nodiscard]] sample_index sample_at(const epoch_pass& pass, position at) const;
  /// Counts a failure. @throws dataset_error if there are too many now.
  void count(const work_place& at, const unreadable_sample& bad);
  /// The samples that `max_share` is a share of: each of the rank's samples once, without repeats.
  /// With `skip` it includes those that `partial_batch::drop` leaves out, because they may be
  /// replacements.
  [[nodiscard]] std::uint64_t counted_samples() const noexcept {
    return policy_.action == error_action::skip ? share_.positions : share_.first_repeat();
  }

  const error_policy policy_;
  const sample_source& source_;
  slot_writer& writer_;
  const epoch_share share_;
  const partial_batch last_;
  reader_scratch scratch_;
  rate_limiter warnings_{std::chrono::seconds{1}};
};

}  // namespace feedline::detail
