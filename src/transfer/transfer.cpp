#include "transfer/transfer.hpp"

#include <algorithm>
#include <exception>
#include <utility>

namespace feedline::detail {

bool transfer::step() noexcept {
  const auto slot = staging_->next_filled();
  if (!slot) {
    ring_->end_delivery(staging_->opening_failure());
    return false;
  }
  try {
    if (deliver(*slot)) return true;
    ring_->end_delivery();
  } catch (...) {  // neither slot is used again
    ring_->end_delivery(
        failure{(*staging_)[*slot].work.at(stage::transfer), std::current_exception()});
  }
  return false;
}

bool transfer::deliver(slot_index slot) {
  staging_slot& filled = (*staging_)[slot];
  auto failed = filled.take_failure();
  if (filled.work.run->abandoned.load()) {  // nobody wants it, nor what could not be read
    staging_->recycle(slot);
    return true;
  }
  const std::uint64_t batches = failed ? failed->good_batches : filled.work.batches;
  slot_content content{filled.work, std::move(failed)};
  content.batches = batches;
  content.samples = std::min(content.samples, batches * ring_->format().layout.batch_size());
  if (ring_->in_place()) {
    staging_->lend(slot);
    ring_->deliver(slot, std::move(content));
    return true;
  }
  const auto to = ring_->acquire();
  if (!to) return false;
  if (batches == 0) {
    staging_->recycle(slot);
  } else {
    carry(slot, *to, content);
    staging_->recycle_after_copy(slot);
  }
  ring_->deliver(*to, std::move(content));
  return true;
}

void transfer::carry(slot_index slot, slot_index to, slot_content& content) {
  staging_slot& from = (*staging_)[slot];
  batch_failure failed{0, nullptr};
  try {
    slot_transfer_->carry(from, (*ring_)[to], content.samples);
    return;
  } catch (const batch_failure& of_function) {
    failed = of_function;
  } catch (...) {
    failed.cause = std::current_exception();
  }
  if (from.lost) std::rethrow_exception(failed.cause);
  content.batches = failed.good_batches;
  content.samples = failed.good_batches * ring_->format().layout.batch_size();
  content.failure = failure{from.work.at(stage::transfer, failed.good_batches), failed.cause};
}

}  // namespace feedline::detail
