#include "remote/objects_ahead.hpp"

#include "io/far_reads.hpp"
#include "remote/request/counts.hpp"
#include "remote/request/network_wait.hpp"
#include "remote/request/per_process.hpp"
#include "remote/request/transfer_loop.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

namespace feedline::detail {
namespace {

using namespace std::chrono_literals;

/// An object that was asked for so long ago is not waited for any more, if room is wanted.
constexpr auto unread_after = 10s;

void count_unused(const remote_transfer& opening) noexcept {
  counters().bytes_unused.fetch_add(opening.got, std::memory_order_relaxed);
}

}  // namespace

objects_ahead& objects_ahead::of_this_process() {
  return per_process<objects_ahead>::get([] {
    (void)ahead_store::of_this_process();  // it tells of the ends of passes
    return new objects_ahead;
  });
}

void objects_ahead::fetch(opener by, const std::string& path, const object_access& access,
                          std::uint64_t bytes) {
  if (access.target->identity) access.target->identity->keep_fresh();
  const key of{by, path};
  const std::lock_guard lock{mutex_};
  if (!is_wanted(of, bytes, access.max_ahead_bytes)) return;
  const auto it = std::make_shared<object>();
  it->by = std::make_shared<remote_transfer>();
  it->by->target = access.target;
  it->by->wanted = {.what = wanted_bytes::kind::opening, .bytes = bytes};
  it->by->out.skip(bytes);
  it->room = bytes;
  // `done` holds the object until after this is called.
  it->by->give_memory = [this, to = it.get()] {
    to->bytes = memory_.get(to->room);
    to->by->out.place({to->bytes.get(), static_cast<std::size_t>(to->room)});
  };
  add(of, it);
  try {
    it->by->done = [it] {
      if (it->by->is_unwanted.load()) count_unused(*it->by);
      const bool came = it->by->fault.fault == remote_fault::none;
      it->now.store(came ? object::here : object::failed, std::memory_order_release);
      it->now.notify_all();
    };
    transfer_loop::of_this_process().submit(it->by, transfer_loop::urgency::ahead);
  } catch (...) {
    it->by->done = {};  // it holds the object
    it->now.store(object::failed);
    drop(objects_.find(of));
    throw;
  }
}

void objects_ahead::fetch(opener by, const std::string& path, const object_access& access,
                          const object_pin& pin) {
  const key of{by, path};
  const auto it = std::make_shared<object>();
  {
    const std::lock_guard lock{mutex_};
    if (!is_wanted(of, 0, access.max_ahead_bytes)) return;  // its bytes are the other store's
    it->file = std::make_shared<const object_file>(path, access, pin, std::vector<std::byte>{});
    it->now.store(object::here);
    add(of, it);
  }
  it->file->will_need(0, pin.size);
}

bool objects_ahead::is_wanted(const key& of, std::uint64_t room, std::uint64_t max_bytes) {
  if (const auto found = objects_.find(of); found != objects_.end()) {
    auto& passes = found->second->passes;
    if (std::ranges::count(passes, reading_pass()) == 0) passes.push_back(reading_pass());
    return false;
  }
  if (bytes_ + room <= max_bytes) return true;
  const auto stale = std::chrono::steady_clock::now() - unread_after;
  for (auto at = objects_.begin(); at != objects_.end();) {
    const auto each = at++;
    if (each->second->now.load() != object::on_its_way && each->second->asked_for < stale)
      drop(each);
  }
  return bytes_ + room <= max_bytes;
}

void objects_ahead::add(const key& of, const std::shared_ptr<object>& it) {
  it->passes.push_back(reading_pass());
  it->asked_for = std::chrono::steady_clock::now();
  objects_.emplace(of, it);
  bytes_ += it->room;
}

objects_ahead::object_ptr objects_ahead::take(opener by, const std::string& path) {
  std::shared_ptr<object> it;
  {
    const std::lock_guard lock{mutex_};
    const auto found = objects_.find({by, path});
    if (found == objects_.end()) return nullptr;
    it = found->second;
  }
  if (it->now.load(std::memory_order_acquire) == object::on_its_way) {
    const network_wait measured;
    transfer_loop::of_this_process().hurry(it->by);
    it->now.wait(object::on_its_way, std::memory_order_acquire);
  }
  const bool has_failed = it->now.load(std::memory_order_acquire) == object::failed;
  const std::lock_guard lock{mutex_};
  it->was_read = true;
  auto& passes = it->passes;
  auto own = std::ranges::find(passes, reading_pass());
  if (own == passes.end()) own = passes.begin();  // it was not hinted by this pass
  if (own != passes.end()) passes.erase(own);
  if (passes.empty() || has_failed)
    if (const auto at = objects_.find({by, path}); at != objects_.end() && at->second == it) {
      passes.clear();
      objects_.erase(at);
      bytes_ -= it->room;
    }
  if (has_failed && it->by->is_unwanted.load()) return nullptr;  // no request was made
  return it;
}

void objects_ahead::drop(entries::iterator at) noexcept {
  const object& it = *at->second;
  const int now = it.now.load(std::memory_order_acquire);
  if (now == object::on_its_way) it.by->is_unwanted.store(true);
  if (now == object::here && it.by && !it.was_read) count_unused(*it.by);
  bytes_ -= it.room;
  objects_.erase(at);
}

void objects_ahead::forget(opener by) noexcept {
  objects_ahead* const store = per_process<objects_ahead>::find();
  if (store == nullptr) return;
  const std::lock_guard lock{store->mutex_};
  for (auto at = store->objects_.begin(); at != store->objects_.end();) {
    const auto each = at++;
    if (each->first.first == by) store->drop(each);
  }
}

void objects_ahead::end_pass(std::uint64_t pass) noexcept {
  objects_ahead* const store = per_process<objects_ahead>::find();
  if (store == nullptr) return;
  const std::lock_guard lock{store->mutex_};
  for (auto at = store->objects_.begin(); at != store->objects_.end();) {
    const auto each = at++;
    auto& passes = each->second->passes;
    if (std::erase(passes, pass) != 0 && passes.empty()) store->drop(each);
  }
}

}  // namespace feedline::detail
