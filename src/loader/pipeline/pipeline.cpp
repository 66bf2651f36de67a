// Over 250 lines: one class; its waits, threads and statistics are in files of their own.

#include "loader/pipeline/pipeline.hpp"

#include <feedline/error.hpp>

#include "detail/log.hpp"
#include "device/deferred_free.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>

namespace feedline::detail {
namespace {

/// Parts that outlive a loader while the device still works for it.
struct leftovers final : deferred_free {
  leftovers(std::unique_ptr<slot_transfer> carrying, std::shared_ptr<device_ring> into)
      : to{std::move(into)}, by{std::move(carrying)} {}
  [[nodiscard]] bool is_idle() override { return by->is_idle() && to->is_idle(); }

  std::shared_ptr<device_ring> to;
  std::unique_ptr<slot_transfer> by;
};

/// Memory that the options allow for batches that are kept, and that the plan leaves of it.
growth_limits growth_of(const loader_options& options, const loader_plan& plan) {
  growth_limits limits{.allowed = options.expert.on_held == on_held::allocate,
                       .max_bytes = options.expert.max_held_bytes};
  const auto leave = [&](std::size_t most, std::size_t used, const char* by) {
    if (most == 0) return;
    limits.left = most - std::min(most, used);
    limits.left_by = by;
  };
  if (plan.device_slots != 0) {
    leave(options.memory.device, plan.device_bytes - plan.cache_bytes, "memory.device");
  } else {
    leave(options.memory.pinned, plan.staging_bytes, "memory.pinned");
    leave(options.expert.tuning.max_pinned_bytes, plan.staging_bytes,
          "expert.tuning.max_pinned_bytes");
  }
  return limits;
}

/// A ring whose last owner does not wait for the consumer's work, which may never end.
std::shared_ptr<device_ring> make_ring(const device_ptr& device,
                                       const std::shared_ptr<staging_ring>& staging,
                                       const std::shared_ptr<const batch_format>& format,
                                       const std::shared_ptr<failure_table>& failures,
                                       std::size_t slots, const growth_limits& limits) {
  free_deferred();
  return {new device_ring{device, staging, format, failures, slots, limits},
          [](device_ring* ring) { free_when_idle(std::unique_ptr<deferred_free>{ring}); }};
}

/// Null where all batches have one size.
std::unique_ptr<batch_sizer> sizer_of(const resolved_plan& plan, const sample_source& source) {
  if (!plan.sizes) return nullptr;
  return std::make_unique<batch_sizer>(plan.sizes, source, plan.slots.batch_size,
                                       plan.slots.samples_per_epoch);
}

}  // namespace

pipeline::pipeline(dataset_ptr dataset, device_ptr device, const loader_options& options,
                   resolved_plan plan)
    : turns_{reader_turns::of_process()},
      resolved_{std::move(plan)},
      activities_{std::move(device), plan_, options.expert.trace_events},
      device_{activities_.traced()},
      format_{
          std::make_shared<const batch_format>(batch_format{resolved_.memory.delivered(),
                                                            resolved_.order.own,
                                                            dataset->size(),
                                                            resolved_.order.share.first_repeat(),
                                                            {},
                                                            resolved_.memory.host_delivered()})},
      failures_{std::make_shared<failure_table>()},
      staging_{std::make_shared<staging_ring>(device_, plan_.staging_slots, plan_.slot_bytes)},
      ring_{make_ring(device_, staging_, format_, failures_, plan_.device_slots,
                      growth_of(options, plan_))},
      source_{dataset, format_->sampler, options.seed, resolved_.order.share, options.errors},
      reading_{source_.live()},
      sizer_{sizer_of(resolved_, source_)},
      strategy_{make_slot_strategy(resolved_, *dataset, device_, options, source_, sizer_.get())},
      progress_{dataset, resolved_.order.all, options, plan_.batches_per_epoch},
      schedule_{plan_.batches_per_epoch, options.epochs},
      slot_scheduler_{resolved_.slots,
                      schedule_,
                      *staging_,
                      strategy_.cached,
                      std::chrono::steady_clock::now,
                      strategy_.decoding ? &strategy_.decoding->feed : nullptr,
                      sizer_.get()},
      read_ahead_{source_, resolved_.slots, strategy_.cached, &schedule_,
                  strategy_.decoding ? &strategy_.decoding->order : nullptr},
      forecast_{loader_forecast::make(*dataset, resolved_.order.all, resolved_.order.share,
                                      options.epochs)},
      request_executor_{plan_.batch_size, *strategy_.writer,
                        *staging_,        &read_ahead_,
                        forecast_.get(),  source_.live() != nullptr ? &source_ : nullptr},
      scratch_(static_cast<std::size_t>(std::max(plan_.readers, 1))),
      transfer_{std::move(strategy_.slot_transfer),
                staging_,
                ring_,
                strategy_.replacer.get(),
                plan_.background ? transfer::usual_wait : std::chrono::seconds{0},
                strategy_.mixer.get(),
                plan_.background ? &schedule_ : nullptr,
                resolved_.memory.host_staged()},
      chunked_{dataset->chunks().samples > 1},
      cursor_{ring_, options.errors.listed},
      held_warning_{options.expert.held_warning},
      leave_reads_after_{options.expert.leave_reads_after} {
  for (std::size_t i = 0; i < scratch_.size(); ++i)
    scratch_[i].clock.name(stage::reader, static_cast<unsigned>(i), &activities_);
  transfer_.clock().name(stage::transfer, 0, &activities_);
  consumer_.name(stage::batch, 0, &activities_);
  activities_.follow(transfer_.clock(), consumer_);
  if (resolved_.tuned) tuning_.emplace(plan_, slot_scheduler_.active(), *staging_, activities_);
  forecast_.begin();
  log()->debug("{}: {}", device_->capabilities().name, to_string(plan_));
  if (!plan_.background) return;
  try {
    start_threads();
  } catch (...) {
    shut_down();
    throw;
  }
}

pipeline::~pipeline() {
  shut_down();
  auto slot_transfer = transfer_.take_slot_transfer();
  if (!slot_transfer || slot_transfer->uses_others_memory()) return;
  try {
    free_when_idle(std::make_unique<leftovers>(std::move(slot_transfer), ring_));
  } catch (const std::bad_alloc&) {
    // The slot transfer is destroyed, and has waited.
  }
}

optional_lease<batch> pipeline::next(const std::shared_ptr<epoch_pass>& pass, stream_ref stream,
                                     const take_limits& limits) {
  require_own_process();
  if (failed_) failures_->rethrow();
  if (pass_failure_) throw stage_error{pass_failure_->where, pass_failure_->cause};
  if (stopped_.load() || pass->ended || limits.stop.stop_requested()) return std::nullopt;
  if (cursor_.pass() != pass) begin(pass, stream);
  while (!cursor_.has_batch()) {
    if (auto failure = cursor_.take_failure()) fail_pass(std::move(*failure));
    if (cursor_.at_end(plan_.batches_per_epoch)) {
      pass->ended = true;
      consumer_.enter(activity::idle);
      activities_.end_epoch(stream);
      schedule_.end(pass);
      return std::nullopt;
    }
    check_capture(stream);
    const auto slot = strategy_.decoding ? next_decoded(limits) : next_slot(limits);
    if (stopped_.load() || (!slot && limits.stop.stop_requested())) return std::nullopt;
    if (!slot) fail(ring_->end_failure());
    const device_slot& taken = (*ring_)[*slot];
    consumer_.at(taken.content.pass->epoch, taken.content.first_batch, taken.content.batches);
    consumer_.count_slot(taken.delivered_at, consumer_.since());
    try {
      cursor_.accept(*slot);
    } catch (...) {
      fail(failure{taken.content.at(stage::batch), std::current_exception()});
    }
    tune();
  }
  return hand_out();
}

void pipeline::begin(const std::shared_ptr<epoch_pass>& pass, stream_ref stream) {
  if (!schedule_.begin(pass)) {
    throw usage_error{
        "epoch " + std::to_string(pass->epoch) +
        " was abandoned by a later one or by a seek: consume epochs in the order they were "
        "asked for"};
  }
  cursor_.begin(pass, stream);
  consumer_.at(pass->epoch, 0, 0);
  consumer_.enter(activity::busy);
}

void pipeline::check_capture(stream_ref stream) {
  const std::size_t postponed = ring_->end_postponed();
  if (is_capturing(stream)) {
    throw usage_error{
        "a batch cannot be taken while its stream is being captured: the graph would wait for this "
        "one copy each time it is launched. Take the batch before the capture begins, or after it"};
  }
  if (postponed != 0 && postponed == plan_.device_slots && !ring_->may_grow()) {
    throw usage_error{
        "all " + std::to_string(postponed) +
        " slots are held by batches that were destroyed while their stream was being captured: end "
        "the capture before the next batch is taken, and destroy batches outside of captures"};
  }
}

bool pipeline::is_capturing(stream_ref stream) {
  try {
    return device_->is_capturing(stream);
  } catch (...) {
    const epoch_place at = place();
    fail(failure{{.stage = stage::batch, .epoch = at.epoch, .batch = at.batch, .path = {}},
                 std::current_exception()});
  }
}

void pipeline::seek(const loader_state& to) {
  require_own_process();
  try {
    if (failed_) failures_->rethrow();
  } catch (const stage_error& failure) {
    throw usage_error{
        "loader::seek: this loader cannot continue, because its delivery has ended: " +
        std::string{failure.what()} + "; make a new loader, and seek with that one"};
  }
  progress_.seek(to);
  cursor_.begin(nullptr, {});
  schedule_.seek(to.epoch, to.batch, progress_.place().losses);
  // Caches plan from there, before the first sample is read.
  if (loader_forecast* const forecast = forecast_.get())
    forecast->reached_own(to.epoch, position{to.batch * plan_.batch_size});
  pass_failure_.reset();
}

void pipeline::fail_pass(failure why) {
  pass_failure_.emplace(std::move(why));
  schedule_.abandon_all();
  leave_epoch();
  throw stage_error{pass_failure_->where, pass_failure_->cause};
}

void pipeline::fail(std::optional<failure> why) {
  if (why) failures_->report(std::move(*why));  // or the end of a lease has
  failed_ = true;
  consumer_.enter(activity::idle);
  close();
  failures_->rethrow();
  throw std::logic_error{
      "feedline: delivery ended without a failure; this is an error in feedline"};
}

void pipeline::stop() noexcept {
  if (!belongs_here()) return;
  stopped_.store(true);
  close();
}

void pipeline::require_own_process() const {
  if (belongs_here()) return;
  throw usage_error{"this loader belongs to process " + std::to_string(format_->process.id()) +
                    ", and this is process " + std::to_string(::getpid()) +
                    ", a fork of it, where none of its threads are: make a loader in each process "
                    "after fork, and use this one in its own"};
}

void pipeline::close() noexcept {
  request_executor_.stop();
  source_.stop();
  turns_.wake();
  slot_scheduler_.close();
  ring_->close();
}

}  // namespace feedline::detail
