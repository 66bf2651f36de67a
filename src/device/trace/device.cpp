#include "device/trace/device.hpp"

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>

namespace feedline::detail {
namespace {

constexpr auto longest_look = std::chrono::milliseconds{5};
constexpr auto quick = std::chrono::microseconds{30};
constexpr int max_tries = 8;

work_label label_of(const stage_clock& clock) noexcept {
  return {clock.epoch(), clock.batch(), clock.batches()};
}

}  // namespace

traced_device::traced_device(device_ptr real, std::shared_ptr<trace_recorder> recorder)
    : real_{std::move(real)}, recorder_{std::move(recorder)}, anchor_{real_, with_time} {
  using clock = std::chrono::steady_clock;
  const stream quiet{real_};
  clock::duration took{};
  // The first call on a stream takes longer, and the host may be interrupted.
  for (int tries = 0; tries < 2 || (took > quick && tries < max_tries); ++tries) {
    const auto before = clock::now();
    real_->record(anchor_.get(), quiet.get());
    // Spins, because a thread that sleeps until the event is done wakes too late to tell when that
    // was.
    while (!real_->is_done(anchor_.get()) && clock::now() - before < longest_look) {
    }
    took = clock::now() - before;
    real_->sync(anchor_.get());
    clock_ = {anchor_.get(), before};
  }
}

traced_device::~traced_device() = default;

void traced_device::follow(const stage_clock& transfer, const stage_clock& consumer) {
  consumers_ = std::make_unique<stream_lane>(
      real_, recorder_->add_lane("consumer's stream", lane_kind::stream), clock_);
  transfer_ = &transfer;
  consumer_ = &consumer;
}

void traced_device::end_epoch(stream_ref stream) noexcept {
  try {
    if (real_->is_capturing(stream)) return leave_epoch();
  } catch (...) {
    return leave_epoch();
  }
  mark(*consumers_, stream, {});
}

void traced_device::leave_epoch() noexcept {
  const std::scoped_lock lock{mutex_};
  consumers_->forget_next();
}

void traced_device::poll() noexcept {
  const std::scoped_lock lock{mutex_};
  take_times();
}

void traced_device::take_times() noexcept {
  // The consumer's work follows the copies of its batches. Marks of these copies that the stream
  // has passed are seen and recorded before the consumer's own, so that a correction of the clock
  // applies to both.
  if (consumers_) consumers_->see();
  for (const auto& [stream, lane] : lanes_) {
    lane->see();
    lane->tell();
  }
  if (consumers_) consumers_->tell();
}

void traced_device::mark(stream_lane& lane, stream_ref stream, std::optional<trace_activity> next,
                         work_label label) noexcept {
  const std::scoped_lock lock{mutex_};
  take_times();
  lane.mark(stream, next, label);
}

stream_ref traced_device::make_stream() {
  return followed(real_->make_stream());
}
stream_ref traced_device::make_high_priority_stream() {
  return followed(real_->make_high_priority_stream());
}

stream_ref traced_device::followed(stream_ref made) {
  try {
    auto& record =
        recorder_->add_lane("copy stream " + std::to_string(lanes_.size() + 1), lane_kind::stream);
    lanes_.emplace_back(made, std::make_unique<stream_lane>(real_, record, clock_));
  } catch (...) {
    real_->destroy_stream(made);
    throw;
  }
  return made;
}

stream_lane* traced_device::lane_of(stream_ref stream) noexcept {
  for (const auto& [made, lane] : lanes_) {
    if (made == stream) return lane.get();
  }
  return nullptr;
}

bool traced_device::is_pending(event_handle event) noexcept {
  try {
    return !real_->is_done(event);
  } catch (...) {  // the work has failed: the pipeline's next call reports it
    return false;
  }
}

work_label traced_device::transfers() const noexcept {
  return label_of(*transfer_);
}

void traced_device::copy(void* to, const void* from, std::size_t bytes, stream_ref stream) {
  stream_lane* const lane = transfer_ == nullptr ? nullptr : lane_of(stream);
  if (lane != nullptr) mark(*lane, stream, trace_activity::copying, transfers());
  real_->copy(to, from, bytes, stream);
  if (lane != nullptr) mark(*lane, stream, {});
}

void traced_device::assemble(const assembly& work, stream_ref stream) {
  stream_lane* const lane = transfer_ == nullptr ? nullptr : lane_of(stream);
  if (lane != nullptr) mark(*lane, stream, trace_activity::copying, transfers());
  real_->assemble(work, stream);
  if (lane != nullptr) mark(*lane, stream, {});
}

void traced_device::wait(stream_ref stream, event_handle event) {
  if (transfer_ == nullptr) return real_->wait(stream, event);
  const bool waits = is_pending(event);
  if (stream_lane* const lane = lane_of(stream)) {
    if (waits) mark(*lane, stream, trace_activity::stalled, transfers());
    real_->wait(stream, event);
    if (waits) mark(*lane, stream, {});
    return;
  }
  const work_label label = label_of(*consumer_);
  if (waits) mark(*consumers_, stream, trace_activity::starved, label);
  real_->wait(stream, event);
  mark(*consumers_, stream, trace_activity::computing, label);
}

device_capabilities traced_device::capabilities() const {
  return real_->capabilities();
}
void* traced_device::allocate(memory_kind kind, std::size_t bytes) {
  return real_->allocate(kind, bytes);
}
void traced_device::free(memory_kind kind, void* memory, std::size_t bytes) noexcept {
  real_->free(kind, memory, bytes);
}
void* traced_device::allocate_short_lived(memory_kind kind, std::size_t bytes) {
  return real_->allocate_short_lived(kind, bytes);
}
void traced_device::free_short_lived(memory_kind kind, void* memory, std::size_t bytes) noexcept {
  real_->free_short_lived(kind, memory, bytes);
}
std::optional<std::size_t> traced_device::free_bytes(memory_kind kind) {
  return real_->free_bytes(kind);
}
void traced_device::destroy_stream(stream_ref stream) noexcept {
  real_->destroy_stream(stream);
}
event_handle traced_device::make_event() {
  return real_->make_event();
}
void traced_device::destroy_event(event_handle event) noexcept {
  real_->destroy_event(event);
}
void traced_device::copy_back(void* to, const void* from, std::size_t bytes, stream_ref stream) {
  real_->copy_back(to, from, bytes, stream);
}
const std::byte* traced_device::map(std::span<const std::byte> memory) {
  return real_->map(memory);
}
void traced_device::unmap(std::span<const std::byte> memory) noexcept {
  real_->unmap(memory);
}
void traced_device::record(event_handle event, stream_ref stream) {
  real_->record(event, stream);
}
bool traced_device::is_done(event_handle event) {
  return real_->is_done(event);
}
void traced_device::sync(event_handle event) {
  real_->sync(event);
}
bool traced_device::tells_times() const noexcept {
  return real_->tells_times();
}
event_handle traced_device::make_timed_event() {
  return real_->make_timed_event();
}
std::optional<std::chrono::nanoseconds> traced_device::elapsed(event_handle begin,
                                                               event_handle end) {
  return real_->elapsed(begin, end);
}
void traced_device::begin_thread() noexcept {
  real_->begin_thread();
}
void traced_device::begin_range(const char* name) noexcept {
  real_->begin_range(name);
}
void traced_device::end_range() noexcept {
  real_->end_range();
}
bool traced_device::is_capturing(stream_ref stream) {
  return real_->is_capturing(stream);
}
stream_ref traced_device::for_any_thread(stream_ref stream) const {
  return real_->for_any_thread(stream);
}
void traced_device::check(stream_ref stream) const {
  real_->check(stream);
}

}  // namespace feedline::detail
