#include "loader/pipeline/activity_recorder.hpp"

#include <feedline/error.hpp>

#include <optional>
#include <string>
#include <utility>

namespace feedline::detail {
namespace {

/// The name of a range for profilers; null: none. While the consumer has a batch, the thread is the
/// user's, and so are its ranges; and the epoch may continue in another thread.
const char* range_of(stage of, activity what) noexcept {
  switch (what) {
    case activity::idle:
      return nullptr;
    case activity::busy:
      return of == stage::reader ? "read" : of == stage::transfer ? "transfer" : nullptr;
    case activity::starved:
      return "starved";
    case activity::stalled:
      return "stalled";
    case activity::copy_wait:
      return "wait for copy";
  }
  return nullptr;
}

trace_activity activity_of(const activity_span& span) noexcept {
  if (span.what == activity::starved) return trace_activity::starved;
  if (span.what != activity::busy) return trace_activity::stalled;
  if (span.stage == stage::reader) return trace_activity::reading;
  return span.stage == stage::transfer ? trace_activity::copying : trace_activity::computing;
}

}  // namespace

activity_recorder::activity_recorder(device_ptr device, const loader_plan& plan, std::size_t events)
    : device_{std::move(device)} {
  if (events == 0) return;
  recorder_ = std::make_shared<trace_recorder>(events);
  const auto add = [this](std::string name) {
    return &recorder_->add_lane(std::move(name), lane_kind::thread);
  };
  for (int i = 0; i < plan.readers; ++i) readers_.push_back(add("fl-reader-" + std::to_string(i)));
  if (plan.readers == 0)
    readers_.push_back(add(plan.background ? "fl-transfer: reading" : "consumer: reading"));
  transfer_ = add(plan.background ? "fl-transfer" : "consumer: transfer");
  if (device_->tells_times() && !device_->capabilities().reads_staging)
    traced_ = std::make_shared<traced_device>(device_, recorder_);
}

void activity_recorder::follow(const stage_clock& transfer, const stage_clock& consumer) {
  if (!recorder_) return;
  consumer_ = &recorder_->add_lane("consumer", lane_kind::thread);
  if (traced_) traced_->follow(transfer, consumer);
}

void activity_recorder::on_activity(const activity_span& ended, activity next) noexcept {
  if (range_of(ended.stage, ended.what) != nullptr) device_->end_range();
  if (const char* const name = range_of(ended.stage, next)) device_->begin_range(name);

  if (!recorder_ || ended.what == activity::idle || ended.begin == ended.end) return;
  const bool has_batch = ended.what == activity::busy && ended.batches != 0;
  // Between the begin of an epoch and its first batch the consumer has nothing to compute on.
  if (ended.what == activity::busy && !has_batch) return;
  lane_of(ended).add(activity_of(ended), ended.begin, ended.end, ended.epoch,
                     has_batch ? std::optional{ended.batch} : std::nullopt, ended.batches);
}

void activity_recorder::on_tuning(int readers, std::size_t staging_slots) noexcept {
  if (!recorder_) return;
  try {
    recorder_->mark("readers " + std::to_string(readers) + ", staging slots " +
                    std::to_string(staging_slots));
  } catch (...) {  // NOLINT(bugprone-empty-catch): no memory: a trace lacks a mark
  }
}

trace_lane_record& activity_recorder::lane_of(const activity_span& span) noexcept {
  if (span.stage == stage::reader) return *readers_[span.lane];
  return span.stage == stage::transfer ? *transfer_ : *consumer_;
}

trace activity_recorder::snapshot() const {
  if (!recorder_) {
    throw usage_error{
        "loader_options::expert.trace_events is 0, so there is no trace: say how many activities "
        "of each "
        "thread are to be kept, such as 100000"};
  }
  if (traced_) traced_->poll();
  return recorder_->snapshot();
}

}  // namespace feedline::detail
