/// The thread of a scripted device: it runs the operations on its streams, one after the other; and
/// what is freed while it does.

#include "device/assemble_on_host.hpp"
#include "support/devices/scripted_device.hpp"
#include "support/devices/zeroed_memory.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <utility>

namespace feedline::test {
namespace {

/// Whether a copy into an assembly's copy destination has started and not completed. Following such
/// tables would lead anywhere.
bool tables_are_poison(const assembly& work) {
  const std::byte* const first = work.copy_destination + work.sources_at;
  return std::all_of(first, first + sizeof(std::uint32_t),
                     [](std::byte byte) { return byte == scripted_device::poison; });
}

/// Overwrites what an assembly is going to write, and no more: a slot may come in pieces.
void poison_slot(const assembly& work, std::span<const field_assembly> fields) {
  for (std::uint64_t done = 0; done < work.samples; done += work.batch_size) {
    std::byte* const batch = work.slot + done / work.batch_size * work.batch_bytes;
    const std::uint64_t count = std::min(work.batch_size, work.samples - done);
    for (const field_assembly& field : fields)
      std::memset(batch + field.to_offset, static_cast<int>(scripted_device::poison),
                  count * field.to_row_bytes);
  }
}

}  // namespace

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
    case step::copy_back:
      if (!next.started) {
        next.started = true;
        std::memset(next.to, static_cast<int>(poison), next.bytes);
        ++(next.what == step::copy ? started_copies_ : started_copies_back_);
        changed_.notify_all();
      }
      return take(next.what == step::copy ? copy_permits_ : back_permits_);
    case step::assemble:
      if (!next.started) {
        next.started = true;
        const assembly& work = next.assembled;
        poison_slot(work, next.fields);
        for (const field_assembly& field : next.fields)  // a device may use it
          if (field.passing != nullptr)
            std::memset(field.passing, static_cast<int>(poison), work.samples * field.row_bytes);
        ++started_assemblies_;
        changed_.notify_all();
      }
      return take(assembly_permits_);
    case step::work:
      return take(work_permits_);
    case step::decode:
      return next.loads == 0 || take(decode_permits_);
    case step::record:
      return true;
    case step::wait:
      return !is_pending(next.event, next.recording);
  }
  return true;
}

void scripted_device::execute(std::unique_lock<std::mutex>& lock, operation& next) {
  switch (next.what) {
    case step::copy:  // unlocked, as a copy engine would be: a race on its bytes is then a race for
                      // the sanitizer too
    case step::copy_back:
      lock.unlock();
      std::memcpy(next.to, next.from, next.bytes);
      lock.lock();
      ++(next.what == step::copy ? completed_copies_ : completed_copies_back_);
      changed_.notify_all();
      return;
    case step::assemble:  // unlocked, as above
      lock.unlock();
      next.assembled.fields = next.fields;
      next.assembled.mixing = next.mixing ? &*next.mixing : nullptr;
      if (!tables_are_poison(next.assembled)) detail::assemble_on_host(next.assembled);
      lock.lock();
      return;
    case step::decode:
    case step::work:
      lock.unlock();
      next.work();
      lock.lock();
      return;
    case step::record:
      pending_.erase({next.event, next.recording});
      if (const auto event = events_.find(next.event); event != events_.end())
        event->second.done_at = std::chrono::steady_clock::now();
      return;
    case step::wait:
      return;
  }
}

void scripted_device::check_free(const void* memory, std::size_t bytes) noexcept {
  const auto* const first = static_cast<const std::byte*>(memory);
  const std::less<> before;
  const auto lies_there = [&](const void* address) {
    const auto* const at = static_cast<const std::byte*>(address);
    return !before(at, first) && before(at, first + bytes);
  };
  const auto uses = [&](const operation& each) {
    if (each.what == step::copy || each.what == step::copy_back)
      return lies_there(each.to) || lies_there(each.from);
    if (each.what == step::decode)
      return std::any_of(each.uses.begin(), each.uses.end(), lies_there);
    if (each.what == step::work) return lies_there(each.reads.data());
    if (each.what != step::assemble) return false;
    return lies_there(each.assembled.slot) || lies_there(each.assembled.copy_destination) ||
           std::any_of(each.fields.begin(), each.fields.end(),
                       [&](const field_assembly& field) { return lies_there(field.cached); });
  };
  const std::scoped_lock lock{mutex_};
  for (const auto& [number, stream] : streams_) {
    if (std::any_of(stream.queue.begin(), stream.queue.end(), uses)) ++freed_in_use_;
  }
}

void scripted_device::free(memory_kind kind, void* memory, std::size_t bytes) noexcept {
  if (memory == nullptr) return;
  if (kind == memory_kind::device) {
    const std::scoped_lock lock{mutex_};
    ++frees_that_wait_;
  }
  free_short_lived(kind, memory, bytes);
}

void scripted_device::free_short_lived(memory_kind kind, void* memory, std::size_t bytes) noexcept {
  if (memory == nullptr) return;
  check_free(memory, bytes);
  {
    const std::scoped_lock lock{mutex_};
    blocks_.erase(memory);  // first: another thread may be given the same address then
    allocated_[kind] -= bytes;
  }
  free_zeroed(memory);
}

}  // namespace feedline::test
