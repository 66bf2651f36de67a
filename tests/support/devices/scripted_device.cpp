#include "support/devices/scripted_device.hpp"

#include "support/devices/scripted_decoder.hpp"
#include "support/devices/zeroed_memory.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <utility>

namespace feedline::test {
namespace {

/// Far longer than anything takes: reaching it is a failure.
constexpr std::chrono::seconds long_while{60};

std::uint64_t number(stream_ref stream) {
  return reinterpret_cast<std::uintptr_t>(
      stream.get());  // NOLINT(cppcoreguidelines-pro-type-reinterpret-cast)
}

std::uint64_t number(event_handle event) {
  return static_cast<std::uint64_t>(event);
}

}  // namespace

scripted_device::scripted_device() : thread_{[this] { run(); }} {}

scripted_device::~scripted_device() {
  {
    const std::scoped_lock lock{mutex_};
    ending_ = true;
  }
  changed_.notify_all();
  thread_.join();
  for (void* const leaked : blocks_) free_zeroed(leaked);
}

void scripted_device::favour_young_streams() {
  const std::scoped_lock lock{mutex_};
  favours_young_ = true;
}

void scripted_device::begin_capture(stream_ref stream) {
  const std::scoped_lock lock{mutex_};
  streams_.at(number(stream)).capturing = true;
}

void scripted_device::end_capture(stream_ref stream) {
  const std::scoped_lock lock{mutex_};
  streams_.at(number(stream)).capturing = false;
}

std::uint64_t scripted_device::captured_calls() const {
  const std::scoped_lock lock{mutex_};
  return captured_calls_;
}

void scripted_device::launch(stream_ref stream, std::function<void()> work,
                             std::span<const std::byte> reads) {
  enqueue(stream, {.what = step::work, .work = std::move(work), .reads = reads});
}

void scripted_device::drain(stream_ref stream) {
  std::unique_lock lock{mutex_};
  wait_long(
      lock,
      [&] {
        const auto& state = streams_.at(number(stream));
        return state.queue.empty() && !state.running;
      },
      "a stream to drain");
}

void scripted_device::drain() {
  std::unique_lock lock{mutex_};
  const auto is_idle = [](const auto& each) {
    return each.second.queue.empty() && !each.second.running;
  };
  wait_long(
      lock, [&] { return std::all_of(streams_.begin(), streams_.end(), is_idle); },
      "all streams to drain");
}

void scripted_device::fail_call(device_call call, std::uint64_t nth, std::uint64_t times) {
  const std::scoped_lock lock{mutex_};
  failing_[call] = {nth, times};
}

void scripted_device::fail_any_call(std::uint64_t nth, std::uint64_t times) {
  const std::scoped_lock lock{mutex_};
  any_failing_ = {nth, nth == 0 ? 0 : times};
  any_failed_ = false;
}

bool scripted_device::any_call_failed() const {
  const std::scoped_lock lock{mutex_};
  return any_failed_;
}

void scripted_device::wait_for_failed_calls() {
  std::unique_lock lock{mutex_};
  wait_long(
      lock, [this] { return failing_.empty(); }, "calls to fail");
}

void scripted_device::limit(memory_kind kind, std::size_t bytes) {
  const std::scoped_lock lock{mutex_};
  limits_[kind] = bytes;
}

void scripted_device::wait_for_issued_copies(std::uint64_t count) {
  std::unique_lock lock{mutex_};
  wait_long(
      lock, [&] { return issued_copies_ >= count; }, "copies to be issued");
}

void scripted_device::wait_for_started_copies(std::uint64_t count) {
  std::unique_lock lock{mutex_};
  wait_long(
      lock, [&] { return started_copies_ >= count; }, "copies to start");
}

void scripted_device::wait_for_completed_copies(std::uint64_t count) {
  std::unique_lock lock{mutex_};
  wait_long(
      lock, [&] { return completed_copies_ >= count; }, "copies to complete");
}

void scripted_device::wait_for_started_copies_back(std::uint64_t count) {
  std::unique_lock lock{mutex_};
  wait_long(
      lock, [&] { return started_copies_back_ >= count; }, "copies back to start");
}

void scripted_device::wait_for_started_assemblies(std::uint64_t count) {
  std::unique_lock lock{mutex_};
  wait_long(
      lock, [&] { return started_assemblies_ >= count; }, "assemblies to start");
}

void scripted_device::wait_for_issued_decodes(std::uint64_t count) {
  std::unique_lock lock{mutex_};
  wait_long(
      lock, [&] { return issued_decodes_.size() >= count; }, "blocks to be decoded");
}

std::size_t scripted_device::handles() const {
  const std::scoped_lock lock{mutex_};
  const auto living = std::count_if(streams_.begin(), streams_.end(),
                                    [](const auto& each) { return !each.second.destroyed; });
  return static_cast<std::size_t>(living) + events_.size();
}

device_capabilities scripted_device::capabilities() const {
  // The decoders only borrow the device; the code that asks for them keeps it.
  return {.name = "scripted",
          .reads_staging = false,
          .makes_packed_values = makes_packed_values_,
          .id = {device_kind::cuda, 7},
          .decodes = make_scripted_decoders(const_cast<scripted_device&>(*this)),
          .map_granularity = map_granularity_};
}

void* scripted_device::allocate(memory_kind kind, std::size_t bytes) {
  try {
    count_call(device_call::allocate);
  } catch (const device_error& refusal) {
    throw out_of_memory{bytes, kind, refusal.what()};
  }
  {
    const std::scoped_lock lock{mutex_};
    const auto limit = limits_.find(kind);
    if (limit != limits_.end() && allocated_[kind] + bytes > limit->second)
      throw out_of_memory{bytes, kind, "the scripted device has no more than it was told to"};
  }
  void* memory = allocate_zeroed(bytes);
  const std::scoped_lock lock{mutex_};
  ++allocations_;
  blocks_.insert(memory);
  allocated_[kind] += bytes;
  return memory;
}

std::optional<std::size_t> scripted_device::free_bytes(memory_kind kind) {
  const std::scoped_lock lock{mutex_};
  const auto limit = limits_.find(kind);
  if (limit == limits_.end()) return std::nullopt;
  return limit->second - allocated_[kind];
}

stream_ref scripted_device::make_stream() {
  count_call(device_call::make_stream);
  const std::scoped_lock lock{mutex_};
  const std::uint64_t handle = next_handle_++;
  streams_[handle];
  return stream_ref::from_raw(reinterpret_cast<void*>(
      handle));  // NOLINT(cppcoreguidelines-pro-type-reinterpret-cast,performance-no-int-to-ptr)
}

void scripted_device::destroy_stream(stream_ref stream) noexcept {
  const std::scoped_lock lock{mutex_};
  streams_.at(number(stream)).destroyed = true;
  changed_.notify_all();
}

event_handle scripted_device::make_event() {
  count_call(device_call::make_event);
  const std::scoped_lock lock{mutex_};
  const std::uint64_t handle = next_handle_++;
  events_[handle];
  return static_cast<event_handle>(handle);
}

event_handle scripted_device::make_timed_event() {
  const std::scoped_lock lock{mutex_};
  const std::uint64_t handle = next_handle_++;
  events_[handle].timed = true;
  return static_cast<event_handle>(handle);
}

std::optional<std::chrono::nanoseconds> scripted_device::elapsed(event_handle begin,
                                                                 event_handle end) {
  const std::scoped_lock lock{mutex_};
  if (!latest_is_done(begin) || !latest_is_done(end)) return std::nullopt;
  return events_.at(number(end)).done_at - events_.at(number(begin)).done_at;
}

void scripted_device::destroy_event(event_handle event) noexcept {
  const std::scoped_lock lock{mutex_};
  events_.erase(number(event));
}

void scripted_device::copy(void* to, const void* from, std::size_t bytes, stream_ref stream) {
  count_call(device_call::copy);
  enqueue(stream, {.what = step::copy, .to = to, .from = from, .bytes = bytes});
  const std::scoped_lock lock{mutex_};
  ++issued_copies_;
  copied_bytes_ += bytes;
  changed_.notify_all();
}

void scripted_device::copy_back(void* to, const void* from, std::size_t bytes, stream_ref stream) {
  count_call(device_call::copy_back);
  enqueue(stream, {.what = step::copy_back, .to = to, .from = from, .bytes = bytes});
}

void scripted_device::decode(stream_ref stream, std::function<void()> work,
                             std::vector<const void*> uses, std::uint32_t loads) {
  count_call(device_call::decode);
  enqueue(stream,
          {.what = step::decode, .work = std::move(work), .uses = std::move(uses), .loads = loads});
  if (loads == 0) return;
  const std::scoped_lock lock{mutex_};
  issued_decodes_.push_back(loads);
  changed_.notify_all();
}

void scripted_device::assemble(const assembly& work, stream_ref stream) {
  count_call(device_call::assemble);
  operation assembling{.what = step::assemble,
                       .assembled = work,
                       .fields = {work.fields.begin(), work.fields.end()}};
  if (work.mixing != nullptr) assembling.mixing = *work.mixing;
  enqueue(stream, std::move(assembling));
  const std::scoped_lock lock{mutex_};
  ++issued_assemblies_;
}

const std::byte* scripted_device::map(std::span<const std::byte> memory) {
  count_call(device_call::map);
  const auto begin = reinterpret_cast<std::uintptr_t>(memory.data());
  if (begin % map_granularity_ != 0 || memory.size() % map_granularity_ != 0)
    throw usage_error{"the scripted device maps whole pages"};
  const std::scoped_lock lock{mutex_};
  ++mappings_;
  return memory.data();
}

void scripted_device::unmap(std::span<const std::byte> memory) noexcept {
  check_free(memory.data(), memory.size());
  const std::scoped_lock lock{mutex_};
  --mappings_;
}

void scripted_device::record(event_handle event, stream_ref stream) {
  if (!is_timed(event)) count_call(device_call::record);
  refuse_capturing(stream);
  std::uint64_t recording = 0;
  {
    const std::scoped_lock lock{mutex_};
    recording = ++events_.at(number(event)).recorded;
    pending_.emplace(number(event), recording);
  }
  enqueue(stream, {.what = step::record, .event = number(event), .recording = recording});
}

void scripted_device::wait(stream_ref stream, event_handle event) {
  count_call(device_call::wait);
  refuse_capturing(stream);
  std::uint64_t recording = 0;
  {
    const std::scoped_lock lock{mutex_};
    recording = events_.at(number(event)).recorded;
  }
  enqueue(stream, {.what = step::wait, .event = number(event), .recording = recording});
}

bool scripted_device::is_done(event_handle event) {
  count_call(device_call::is_done);
  const std::scoped_lock lock{mutex_};
  return latest_is_done(event);
}

void scripted_device::sync(event_handle event) {
  count_call(device_call::sync);
  std::unique_lock lock{mutex_};
  wait_long(
      lock, [&] { return latest_is_done(event); }, "an event");
}

bool scripted_device::is_capturing(stream_ref stream) {
  count_call(device_call::is_capturing);
  const std::scoped_lock lock{mutex_};
  return streams_.at(number(stream)).capturing;
}

void scripted_device::check(stream_ref stream) const {
  if (!stream) throw usage_error{"the scripted device needs a stream"};
  const std::scoped_lock lock{mutex_};
  if (!streams_.contains(number(stream)))
    throw usage_error{"the stream is not the scripted device's"};
}

bool scripted_device::is_timed(event_handle event) const {
  const std::scoped_lock lock{mutex_};
  return events_.at(number(event)).timed;
}

void scripted_device::enqueue(stream_ref stream, operation next) {
  const std::scoped_lock lock{mutex_};
  const auto found = streams_.find(number(stream));
  if (found == streams_.end() || found->second.destroyed) throw device_error{"the stream is gone"};
  found->second.queue.push_back(std::move(next));
  changed_.notify_all();
}

void scripted_device::refuse_capturing(stream_ref stream) {
  const std::scoped_lock lock{mutex_};
  if (!streams_.at(number(stream)).capturing) return;
  ++captured_calls_;
  throw device_error{"the scripted device was called on a stream that is captured"};
}

bool scripted_device::is_pending(std::uint64_t event, std::uint64_t recording) const {
  return pending_.contains({event, recording});
}

bool scripted_device::latest_is_done(event_handle event) const {
  return !is_pending(number(event), events_.at(number(event)).recorded);
}

void scripted_device::count_call(device_call call) {
  const std::scoped_lock lock{mutex_};
  if (any_failing_.times != 0 && --any_failing_.next == 0) {
    any_failing_ = {1, any_failing_.times - 1};
    any_failed_ = true;
    throw device_error{"the scripted device fails this call as told"};
  }
  const auto found = failing_.find(call);
  if (found == failing_.end() || --found->second.next != 0) return;
  found->second.next = 1;
  if (--found->second.times == 0) failing_.erase(found);
  changed_.notify_all();
  throw device_error{"the scripted device fails this call as told"};
}

void scripted_device::wait_long(std::unique_lock<std::mutex>& lock,
                                const std::function<bool()>& ready, const std::string& what) {
  if (!changed_.wait_for(lock, long_while, ready))
    throw std::runtime_error{"the test waited in vain for " + what};
}

}  // namespace feedline::test
