#include "reader/slot_scheduler.hpp"

#include <algorithm>
#include <cstdint>
#include <exception>
#include <utility>

namespace feedline::detail {

slot_scheduler::slot_scheduler(const slot_plan& plan, epoch_schedule& schedule,
                               staging_ring& staging,
                               std::shared_ptr<const device_row_cache> cached, clock now,
                               block_feed* feed, batch_sizer* sizer)
    : plan_{plan},
      partition_{plan, std::move(cached)},
      feed_{feed},
      sizer_{sizer},
      schedule_{schedule},
      staging_{staging},
      requests_{staging.max_circulating() *
                (partition_.max_requests(plan.batches_per_slot * plan.batch_size) +
                 (feed_ != nullptr ? feed_->max_requests() : 0))},
      active_{plan.readers},
      now_{std::move(now)},
      growth_{partition_.max_batches()} {}

std::optional<request> slot_scheduler::next(stage_clock* reader) {
  for (;;) {
    std::optional<request> taken = requests_.try_pop();
    if (taken) return taken;
    if (!opening_.exchange(true)) {
      // Another reader may have opened a ticket between the two lines above: its requests come
      // first.
      taken = requests_.try_pop();
      const std::size_t offered = taken ? 1 : open_next(reader);
      opening_.store(false);  // before waking, so that a woken thread that finds nothing left may
                              // open the next
      if (offered == 0) {
        requests_.close();
        return requests_.try_pop();
      }
      // Readers sleep here because no request was there while another thread was opening a slot.
      // Wake one per request. This reader takes one request itself, so one of the woken readers
      // finds none left and opens the next slot; a reader that finds a request before it could open
      // wakes one to do so. Readers that find neither sleep again: then another reader opens, and
      // will wake them. Waking all at once is a single system call.
      offered < static_cast<std::size_t>(plan_.readers) ? requests_.wake(offered)
                                                        : requests_.wake_all();
      if (taken) return taken;
      continue;
    }
    const auto has_work = [&] { return (taken = requests_.try_pop()) || !opening_.load(); };
    if (!has_work()) {
      const in_activity waiting{reader, activity::starved};
      requests_.wait_until(has_work);
    }
    if (taken || requests_.closed()) return taken;
  }
}

std::size_t slot_scheduler::open_next(stage_clock* reader) {
  if (begun_ && begun_->is_done()) {
    learn_from_last();
    if (!brings_ahead()) begun_.reset();
  }
  if (!begun_ && !begin_next(reader)) {
    staging_.end_opening({});
    return 0;
  }
  try {
    const auto slot = staging_.claim(reader);
    if (!slot) return 0;
    staging_.fit(*slot, begun_->batches);
    return begun_->is_done() ? open_ahead(*slot) : open_piece(*slot);
  } catch (...) {
    const scheduled_ticket next = begun_->ticket;
    begun_.reset();
    const slot_work work{.pass = next.pass, .ticket = next.ticket, .first_batch = next.first_batch};
    staging_.end_opening(failure{work.at(stage::staging), std::current_exception()});
    schedule_.close();
    return 0;
  }
}

bool slot_scheduler::begin_next(stage_clock* reader) {
  learn_from_last();
  const auto next = schedule_.take(reader);
  if (!next) return false;
  const std::uint64_t batches = batches_of(*next);
  const std::uint64_t first = next->first_batch * plan_.batch_size;
  begun_ = {.ticket = *next,
            .batches = batches,
            .samples = std::min(batches * plan_.batch_size, plan_.samples_per_epoch - first),
            .pieces = partition_.pieces()};
  if (feed_ != nullptr)
    feed_->begin(*next->pass, next->first_batch == next->pass->first_batch, position{first},
                 position{first + begun_->samples});
  return true;
}

std::size_t slot_scheduler::open_piece(slot_index slot) {
  const begun_ticket& ticket = *begun_;
  const scheduled_ticket& next = ticket.ticket;
  if (!std::exchange(begun_->opened, true)) {
    if (sizer_ != nullptr)
      begun_->sizes = sizer_->of_ticket(next.pass->epoch, next.first_batch, ticket.batches);
    schedule_.opened(next, ticket.batches);
    if (plan_.slots_grow) last_ = {next.pass, ticket.batches, now_()};
  }
  const sample_run piece = ticket.pieces.request(ticket.next_piece, ticket.samples);
  slot_work work{
      .pass = next.pass,
      .ticket = next.ticket,
      .first = position{next.first_batch * plan_.batch_size + piece.begin},
      .first_batch = next.first_batch,
      .samples = piece.end - piece.begin,
      .batches = ticket.batches,
      .begin = piece.begin,
      .ends_ticket = piece.end == ticket.samples,
      .layout = partition_.next(piece.end - piece.begin, plan_.readers - active_.count()),
      .sizes = ticket.sizes};
  const bool is_samples = feed_ == nullptr || feed_->add(staging_[slot], work);
  if (!is_samples) {  // blocks alone, ahead of the samples
    work.samples = 0;
    work.ends_ticket = false;
  }
  const std::size_t offered = offer(slot, std::move(work));
  if (is_samples) ++begun_->next_piece;
  return offered;
}

bool slot_scheduler::brings_ahead() const {
  return feed_ != nullptr && !begun_->ticket.pass->abandoned.load() &&
         feed_->wants_slot(staging_.circulating());
}

std::size_t slot_scheduler::open_ahead(slot_index slot) {
  const scheduled_ticket& next = begun_->ticket;
  slot_work work{.pass = next.pass,
                 .ticket = next.ticket,
                 .first = position{next.first_batch * plan_.batch_size},
                 .first_batch = next.first_batch,
                 .ends_ticket = false};
  feed_->add_ahead(staging_[slot], work);
  return offer(slot, std::move(work));
}

std::size_t slot_scheduler::offer(slot_index slot, slot_work work) {
  const std::uint32_t requests = work.requests();
  const std::uint32_t first = work.sample_requests();  // blocks take longer than tables
  staging_.open(slot, std::move(work));
  for (std::uint32_t number = 0; number < requests; ++number)
    requests_.put({static_cast<std::uint32_t>(slot.value), (first + number) % requests});
  return requests;
}

void slot_scheduler::learn_from_last() {
  if (!last_ || std::exchange(last_->is_learnt, true)) return;
  if (last_->pass->abandoned.load()) return;  // an abandoned epoch is not read, so it takes no time
  growth_.learn(last_->batches, now_() - last_->at);
}

std::uint64_t slot_scheduler::batches_of(const scheduled_ticket& next) const {
  const std::uint64_t left = plan_.batches_per_epoch - next.first_batch;
  if (!plan_.slots_grow || (feed_ == nullptr && !partition_.rows_are_read()))
    return std::min(partition_.max_batches(), left);
  const bool after_pause =
      !last_ || next.waited || (last_->pass != next.pass && last_->pass->abandoned.load());
  return std::min(growth_.next(after_pause), left);
}

}  // namespace feedline::detail
