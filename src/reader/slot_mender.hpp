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

/// Puts other samples in the place of those that cannot be read.
///
/// Slots come in the order of their tickets, and places within them in order, so what becomes of a
/// sample depends on those before it alone. With `skip`, each sample that cannot be read takes one
/// off the epoch's end, which stands in its place; if that cannot be read either, the next one
/// does, and so on, until the place itself is the end. What is behind the end is cut off. A batch
/// that was to be delivered as it began is mended whole, even if `partial_batch::drop` leaves it
/// out then: what it lost counts, wherever slots end.
///
/// Reads where it must, so it may block as a reader does. Threads: the transfer's.
class slot_mender {
 public:
  /// Borrows source and writer for its life.
  /// @param share With `skip`, all of an epoch: a world of one.
  slot_mender(const error_policy& policy, const sample_source& source, slot_writer& writer,
              const epoch_share& share, partial_batch last)
      : policy_{policy}, source_{source}, writer_{writer}, share_{share}, last_{last} {}

  /// Whether `mend` has anything to do with a filled slot.
  [[nodiscard]] bool concerns(const staging_slot& slot) const noexcept {
    return !slot.unreadable.empty() ||
           (slot.work.run->losses.skipped != 0 &&
            slot.work.first.value + slot.work.samples > end_of(*slot.work.run));
  }
  /// Mends a filled slot, or as much of it as is before its failure.
  /// @param failed The slot's; may become one that is before it, or none if it is after the end.
  /// What mending itself throws stays: too many samples that cannot be read end the epoch, even
  /// if the batch that has the last of them is cut off.
  /// @param ticket What is known of the ticket by the slots before it; null: nothing.
  void mend(staging_slot& slot, std::optional<slot_failure>& failed,
            std::shared_ptr<slot_repairs>& ticket);

  /// What it is reading: the sample itself stands for `first`, not a position. Any thread.
  [[nodiscard]] std::optional<read_under_way> look() const noexcept { return scratch_.now.look(); }

 private:
  /// A slot's place that is being mended.
  struct work_place {
    staging_slot& slot;
    std::uint64_t place;
    slot_repairs& ticket;
  };

  /// Positions before it are delivered, but for repeats.
  [[nodiscard]] std::uint64_t end_of(const epoch_run& run) const noexcept {
    return policy_.action == error_action::skip ? share_.positions - run.losses.skipped
                                                : share_.places();
  }
  /// Places of the epoch that are delivered, with repeats.
  [[nodiscard]] std::uint64_t places_of(const epoch_run& run) const noexcept;
  void handle(const work_place& at, const unreadable_sample& bad);
  void skip(const work_place& at, const unreadable_sample& bad);
  void substitute(const work_place& at, const unreadable_sample& bad);
  /// Puts another one of the epoch's samples where a repeat cannot be read.
  /// @throws dataset_error if none can be read.
  void repeat_another(const work_place& at, const unreadable_sample& bad);
  /// Empty if it was written; else why it cannot be read.
  [[nodiscard]] std::optional<unreadable_sample> try_replace(const work_place& at, sample_index by,
                                                             position from);
  [[nodiscard]] sample_index sample_at(const epoch_run& run, position at) const;
  /// Counts a failure. @throws dataset_error if there are too many now.
  void count(const work_place& at, const unreadable_sample& bad);
  /// The samples that `max_share` is a share of: each of the rank's once, without repeats. With
  /// `skip` those that `partial_batch::drop` leaves out too, because they may stand in.
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
