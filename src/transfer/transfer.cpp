#include "transfer/transfer.hpp"

#include "detail/arithmetic.hpp"

#include <algorithm>
#include <exception>
#include <utility>

namespace feedline::detail {

bool transfer::step() noexcept {
  const auto slot = staging_->next_filled(&clock_);
  if (!slot) {
    ring_->end_delivery(staging_->opening_failure());
    return false;
  }
  staging_slot& filled = (*staging_)[*slot];
  const slot_work& work = filled.work;
  try {
    auto failed = filled.take_failure();
    if (!is_wanted(work)) {  // nor what could not be read
      staging_->recycle(*slot);
      return true;
    }
    const bool is_last = work.ends_ticket;  // a recycled slot gets other work
    const std::uint64_t samples = add(filled, std::move(failed));
    if (ring_->in_place()) {
      staging_->lease(*slot);
      deliver(*slot);
      return true;
    }
    const bool is_blocks = work.samples == 0 && !is_last;
    if (!to_ && !is_blocks && !acquire(work.batches)) {
      ring_->end_delivery();
      return false;
    }
    // If the last piece is past the end of the epoch, the user's function has not run on the batch
    // yet.
    const bool ends_batch = is_last && content_.samples != 0 && !content_.failure;
    if (samples == 0 && !ends_batch && work.block_requests() == 0) {
      staging_->recycle(*slot);
    } else {
      carry(filled, samples);
      staging_->recycle_after_copy(*slot);
    }
    if (is_last) {
      deliver(*std::exchange(to_, std::nullopt));
    } else {
      clock_.lap();
    }
    return true;
  } catch (...) {  // neither slot is used again
    ring_->end_delivery(failure{work.at(stage::transfer), std::current_exception()});
    return false;
  }
}

bool transfer::is_wanted(const slot_work& work) {
  if (failed_pass_ && failed_pass_ != work.pass) {
    if (line_ != nullptr) line_->await_abandoned(*failed_pass_, &clock_);
    failed_pass_.reset();
  }
  return !failed_pass_ && !work.pass->abandoned.load();
}

bool transfer::acquire(std::uint64_t batches) {
  to_ = ring_->acquire(&clock_, batches);
  if (to_) ring_->wait_until_released(*to_, longest_wait_, &clock_);
  return to_.has_value();
}

void transfer::deliver(slot_index slot) {
  clock_.lap();
  clock_.count_batches(content_.batches);
  clock_.count_slot(came_at_, clock_.since());
  if (content_.failure) failed_pass_ = content_.pass;
  ring_->deliver(slot, std::move(content_), clock_.since());
}

std::uint64_t transfer::add(staging_slot& filled, std::optional<slot_failure> failed) {
  const slot_work& work = filled.work;
  if (work.begin == 0) {
    content_ = {work};
    came_at_ = filled.filled_at;
  }
  clock_.at(work.pass->epoch, work.first_batch, work.batches);
  if (content_.failure) return 0;  // a piece before it failed
  if (replacer_ != nullptr && replacer_->concerns(filled))
    replacer_->replace(filled, failed, content_.repairs);
  const std::uint64_t batch_size = ring_->format().layout.batch_size();
  std::uint64_t end = work.begin + work.samples;
  if (content_.repairs) {
    end = std::min(end, content_.repairs->samples);
    content_.batches = std::min(content_.batches, divide_up(end, batch_size));
  }
  if (work.live) content_.batches = divide_up(end, batch_size);
  if (failed) content_.batches = failed->good_batches;
  content_.failure = std::move(failed);
  content_.samples = std::min(end, content_.batches * batch_size);
  const std::uint64_t samples = content_.samples - std::min(content_.samples, work.begin);
  clock_.count_samples(samples);
  if (mixer_ != nullptr) mixer_->mix(filled, samples, content_.repairs.get());
  return samples;
}

void transfer::carry(staging_slot& from, std::uint64_t samples) {
  batch_failure failed{0, nullptr};
  const std::uint64_t copied = slot_transfer_->copies().bytes();
  try {
    if (to_) {
      keep_on_host(from, (*ring_)[*to_], samples);
      slot_transfer_->carry(from, (*ring_)[*to_], samples);
    } else {
      slot_transfer_->carry_blocks(from);
    }
    clock_.count_bytes(slot_transfer_->copies().bytes() - copied);
    return;
  } catch (const batch_failure& of_function) {
    failed = of_function;
  } catch (...) {
    failed.cause = std::current_exception();
  }
  if (from.lost) std::rethrow_exception(failed.cause);
  content_.batches = failed.good_batches;
  content_.samples = failed.good_batches * ring_->format().layout.batch_size();
  content_.failure = failure{from.work.at(stage::transfer, failed.good_batches), failed.cause};
}

void transfer::keep_on_host(const staging_slot& from, device_slot& to,
                            std::uint64_t samples) const {
  if (host_.empty() || samples == 0) return;
  const batch_format& format = ring_->format();
  to.host.fit(format.host.bytes(divide_up(from.work.begin + samples, format.host.batch_size())));
  copy_host_rows(host_, from.data, format.host, to.host.data(), from.work.begin, samples);
}

}  // namespace feedline::detail
