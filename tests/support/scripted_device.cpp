#include "support/scripted_device.hpp"

#include "device/assemble_on_host.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <iterator>
#include <new>
#include <stdexcept>
#include <utility>

namespace feedline::test {
namespace {

/// Far longer than anything takes: reaching it is a failure.
constexpr std::chrono::seconds long_while{60};

constexpr std::align_val_t alignment{256};

std::uint64_t number(stream_ref stream) {
  return reinterpret_cast<std::uintptr_t>(
      stream.get());  // NOLINT(cppcoreguidelines-pro-type-reinterpret-cast)
}

std::uint64_t number(event_handle event) {
  return static_cast<std::uint64_t>(event);
}

/// Whether a copy into an assembly's inlet has started and not completed. Following such tables would
/// lead anywhere.
bool tables_are_poison(const assembly& work) {
  const std::byte* const first = work.inlet + work.sources_at;
  return std::all_of(first, first + sizeof(std::uint32_t),
                     [](std::byte byte) { return byte == scripted_device::poison; });
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
}

void scripted_device::hold_copies() {
  const std::scoped_lock lock{mutex_};
  copy_permits_ = 0;
}

void scripted_device::allow_copies(std::uint64_t count) {
  const std::scoped_lock lock{mutex_};
  if (copy_permits_) *copy_permits_ += count;
  changed_.notify_all();
}

void scripted_device::allow_all_copies() {
  const std::scoped_lock lock{mutex_};
  copy_permits_.reset();
  changed_.notify_all();
}

void scripted_device::hold_assemblies() {
  const std::scoped_lock lock{mutex_};
  assembly_permits_ = 0;
}

void scripted_device::allow_assemblies(std::uint64_t count) {
  const std::scoped_lock lock{mutex_};
  if (assembly_permits_) *assembly_permits_ += count;
  changed_.notify_all();
}

void scripted_device::allow_all_assemblies() {
  const std::scoped_lock lock{mutex_};
  assembly_permits_.reset();
  changed_.notify_all();
}

void scripted_device::hold_work() {
  const std::scoped_lock lock{mutex_};
  work_permits_ = 0;
}

void scripted_device::allow_all_work() {
  const std::scoped_lock lock{mutex_};
  work_permits_.reset();
  changed_.notify_all();
}

void scripted_device::favour_young_streams() {
  const std::scoped_lock lock{mutex_};
  favours_young_ = true;
}

void scripted_device::launch(stream_ref stream, std::function<void()> work) {
  enqueue(stream, {.what = step::work, .work = std::move(work)});
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

void scripted_device::fail_call(device_call call, std::uint64_t nth) {
  const std::scoped_lock lock{mutex_};
  failing_[call] = nth;
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

void scripted_device::wait_for_started_assemblies(std::uint64_t count) {
  std::unique_lock lock{mutex_};
  wait_long(
      lock, [&] { return started_assemblies_ >= count; }, "assemblies to start");
}

std::uint64_t scripted_device::issued_assemblies() const {
  const std::scoped_lock lock{mutex_};
  return issued_assemblies_;
}

std::uint64_t scripted_device::issued_copies() const {
  const std::scoped_lock lock{mutex_};
  return issued_copies_;
}

std::uint64_t scripted_device::copied_bytes() const {
  const std::scoped_lock lock{mutex_};
  return copied_bytes_;
}

std::size_t scripted_device::mappings() const {
  const std::scoped_lock lock{mutex_};
  return mappings_;
}

std::uint64_t scripted_device::freed_in_use() const {
  const std::scoped_lock lock{mutex_};
  return freed_in_use_;
}

std::size_t scripted_device::allocated_bytes(memory_kind kind) const {
  const std::scoped_lock lock{mutex_};
  const auto found = allocated_.find(kind);
  return found == allocated_.end() ? 0 : found->second;
}

std::uint64_t scripted_device::allocations() const {
  const std::scoped_lock lock{mutex_};
  return allocations_;
}

std::size_t scripted_device::handles() const {
  const std::scoped_lock lock{mutex_};
  const auto living = std::count_if(streams_.begin(), streams_.end(),
                                    [](const auto& each) { return !each.second.destroyed; });
  return static_cast<std::size_t>(living) + events_.size();
}

device_capabilities scripted_device::capabilities() const {
  return {.name = "scripted", .reads_staging = false};
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
  void* memory = ::operator new(bytes, alignment);
  std::memset(memory, 0, bytes);
  const std::scoped_lock lock{mutex_};
  ++allocations_;
  allocated_[kind] += bytes;
  return memory;
}

void scripted_device::free(memory_kind kind, void* memory, std::size_t bytes) noexcept {
  if (memory == nullptr) return;
  check_free(memory, bytes);
  ::operator delete(memory, alignment);
  const std::scoped_lock lock{mutex_};
  allocated_[kind] -= bytes;
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

void scripted_device::assemble(const assembly& work, stream_ref stream) {
  count_call(device_call::assemble);
  enqueue(stream, {.what = step::assemble,
                   .assembled = work,
                   .fields = {work.fields.begin(), work.fields.end()}});
  const std::scoped_lock lock{mutex_};
  ++issued_assemblies_;
}

const std::byte* scripted_device::map(std::span<const std::byte> memory) {
  count_call(device_call::map);
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
  count_call(device_call::record);
  std::uint64_t recording = 0;
  {
    const std::scoped_lock lock{mutex_};
    recording = ++events_.at(number(event)).recorded;
  }
  enqueue(stream, {.what = step::record, .event = number(event), .recording = recording});
}

void scripted_device::wait(stream_ref stream, event_handle event) {
  count_call(device_call::wait);
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
  const auto& state = events_.at(number(event));
  return state.done == state.recorded;
}

void scripted_device::sync(event_handle event) {
  count_call(device_call::sync);
  std::unique_lock lock{mutex_};
  wait_long(
      lock,
      [&] {
        const auto& state = events_.at(number(event));
        return state.done == state.recorded;
      },
      "an event");
}

void scripted_device::check(stream_ref stream) const {
  if (!stream) throw usage_error{"the scripted device needs a stream"};
  const std::scoped_lock lock{mutex_};
  if (!streams_.contains(number(stream)))
    throw usage_error{"the stream is not the scripted device's"};
}

void scripted_device::run() {
  std::unique_lock lock{mutex_};
  for (;;) {
    auto place = streams_.end();
    changed_.wait(lock, [&] { return ending_ || (place = runnable()) != streams_.end(); });
    if (ending_) return;
    stream_state& stream = place->second;
    stream.running = true;
    execute(lock, stream.queue.front());
    stream.queue.pop_front();
    stream.running =
        false;  // streams stay where they are in a map, and only this thread erases them
    if (stream.destroyed && stream.queue.empty()) streams_.erase(place);
    changed_.notify_all();
  }
}

std::map<std::uint64_t, scripted_device::stream_state>::iterator scripted_device::runnable() {
  std::erase_if(streams_, [](const auto& each) {
    return each.second.queue.empty() && each.second.destroyed;
  });
  const auto can_go_on = [this](auto& each) {
    return !each.second.queue.empty() && may_run(each.second.queue.front());
  };
  if (!favours_young_) return std::find_if(streams_.begin(), streams_.end(), can_go_on);
  const auto found = std::find_if(streams_.rbegin(), streams_.rend(), can_go_on);
  return found == streams_.rend() ? streams_.end() : std::prev(found.base());
}

bool scripted_device::may_run(operation& next) {
  const auto take = [](std::optional<std::uint64_t>& permits) {
    if (!permits) return true;
    if (*permits == 0) return false;
    --*permits;
    return true;
  };
  switch (next.what) {
    case step::copy:
      if (!next.started) {
        next.started = true;
        std::memset(next.to, static_cast<int>(poison), next.bytes);
        ++started_copies_;
        changed_.notify_all();
      }
      return take(copy_permits_);
    case step::assemble:
      if (!next.started) {
        next.started = true;
        const assembly& work = next.assembled;
        const std::uint64_t batches = (work.samples + work.batch_size - 1) / work.batch_size;
        std::memset(work.slot, static_cast<int>(poison), batches * work.batch_bytes);
        ++started_assemblies_;
        changed_.notify_all();
      }
      return take(assembly_permits_);
    case step::work:
      return take(work_permits_);
    case step::record:
      return true;
    case step::wait: {
      const auto found = events_.find(next.event);
      return found == events_.end() || found->second.done >= next.recording;
    }
  }
  return true;
}

void scripted_device::execute(std::unique_lock<std::mutex>& lock, operation& next) {
  switch (next.what) {
    case step::copy:  // unlocked, as a copy engine would be: a race on its bytes is then a race for
                      // the sanitizer too
      lock.unlock();
      std::memcpy(next.to, next.from, next.bytes);
      lock.lock();
      ++completed_copies_;
      changed_.notify_all();
      return;
    case step::assemble:  // unlocked, as above
      lock.unlock();
      next.assembled.fields = next.fields;
      if (!tables_are_poison(next.assembled)) detail::assemble_on_host(next.assembled);
      lock.lock();
      return;
    case step::work:
      lock.unlock();
      next.work();
      lock.lock();
      return;
    case step::record: {
      const auto found = events_.find(next.event);
      // Streams may come to recordings of one event in another order than they were issued in.
      if (found != events_.end()) found->second.done = std::max(found->second.done, next.recording);
      return;
    }
    case step::wait:
      return;
  }
}

void scripted_device::enqueue(stream_ref stream, operation next) {
  const std::scoped_lock lock{mutex_};
  streams_.at(number(stream)).queue.push_back(std::move(next));
  changed_.notify_all();
}

void scripted_device::check_free(const void* memory, std::size_t bytes) noexcept {
  const auto* const first = static_cast<const std::byte*>(memory);
  const std::less<> before;
  const auto lies_there = [&](const void* address) {
    const auto* const at = static_cast<const std::byte*>(address);
    return !before(at, first) && before(at, first + bytes);
  };
  const auto uses = [&](const operation& each) {
    if (each.what == step::copy) return lies_there(each.to) || lies_there(each.from);
    if (each.what != step::assemble) return false;
    return lies_there(each.assembled.slot) || lies_there(each.assembled.inlet) ||
           std::any_of(each.fields.begin(), each.fields.end(),
                       [&](const field_assembly& field) { return lies_there(field.kept); });
  };
  const std::scoped_lock lock{mutex_};
  for (const auto& [number, stream] : streams_) {
    if (std::any_of(stream.queue.begin(), stream.queue.end(), uses)) ++freed_in_use_;
  }
}

void scripted_device::count_call(device_call call) {
  const std::scoped_lock lock{mutex_};
  const auto found = failing_.find(call);
  if (found == failing_.end() || --found->second != 0) return;
  failing_.erase(found);
  throw device_error{"the scripted device fails this call as told"};
}

void scripted_device::wait_long(std::unique_lock<std::mutex>& lock,
                                const std::function<bool()>& ready, const std::string& what) {
  if (!changed_.wait_for(lock, long_while, ready))
    throw std::runtime_error{"the test waited in vain for " + what};
}

}  // namespace feedline::test
