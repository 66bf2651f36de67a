#include "transfer/transfer.hpp"

#include <algorithm>
#include <exception>
#include <utility>

namespace feedline::detail {

transfer::transfer(std::unique_ptr<carrier> carrier, std::shared_ptr<staging_ring> staging,
                   std::shared_ptr<device_ring> ring, std::shared_ptr<failure_board> failures)
    : carrier_{std::move(carrier)},
      staging_{std::move(staging)},
      ring_{std::move(ring)},
      failures_{std::move(failures)} {}

bool transfer::step() {
  const auto slot = staging_->next_filled();
  if (!slot) {
    if (auto failure = staging_->opening_failure())
      failures_->report(std::move(failure->where), failure->cause);
    ring_->end_delivery();
    return false;
  }
  staging_slot& filled = (*staging_)[*slot];
  auto failure = filled.take_failure();
  if (filled.work.run->abandoned.load()) failure.reset();  // nobody wants what could not be read
  const std::uint64_t batches = failure ? failure->good_batches : filled.work.batches;
  try {
    if (!deliver(*slot, batches)) {
      ring_->end_delivery();
      return false;
    }
  } catch (...) {
    // The copy may or may not have been issued: neither slot is used again.
    failure = slot_failure{.where = {.stage = stage::transfer,
                                     .epoch = filled.work.run->epoch,
                                     .ticket = filled.work.ticket.value,
                                     .batch = filled.work.first_batch,
                                     .path = {}},
                           .cause = std::current_exception(),
                           .first = filled.work.first,
                           .good_batches = 0};
  }
  if (failure) {
    failures_->report(std::move(failure->where), failure->cause);
    ring_->end_delivery();
    return false;
  }
  return true;
}

bool transfer::deliver(slot_index slot, std::uint64_t batches) {
  staging_slot& filled = (*staging_)[slot];
  if (batches == 0 || filled.work.run->abandoned.load()) {
    staging_->recycle(slot);
    return true;
  }
  slot_content content{
      .run = filled.work.run,
      .ticket = filled.work.ticket,
      .first = filled.work.first,
      .first_batch = filled.work.first_batch,
      .samples = std::min(filled.work.samples, batches * ring_->format().layout.batch_size()),
      .batches = batches};
  if (ring_->in_place()) {
    staging_->lend(slot);
    ring_->deliver(slot, std::move(content));
    return true;
  }
  const auto to = ring_->acquire();
  if (!to) return false;
  carrier_->carry(filled, (*ring_)[*to], content.samples);
  staging_->recycle_after_copy(slot);
  ring_->deliver(*to, std::move(content));
  return true;
}

}  // namespace feedline::detail
