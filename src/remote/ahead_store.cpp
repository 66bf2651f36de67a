#include "remote/ahead_store.hpp"

#include "io/far_reads.hpp"
#include "remote/objects_ahead.hpp"
#include "remote/request/counts.hpp"
#include "remote/request/network_wait.hpp"
#include "remote/request/per_process.hpp"
#include "remote/request/transfer_loop.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

namespace feedline::detail {
namespace {

using namespace std::chrono_literals;

/// A block that was asked for so long ago is not waited for any more, if room is wanted.
constexpr auto stale_after = 10s;
constexpr std::uint64_t max_block = std::uint64_t{8} << 20;

struct told_of_passes final : pass_listener {
  void pass_ended(std::uint64_t pass) noexcept override {
    objects_ahead::end_pass(pass);
    ahead_store::end_pass(pass);
  }
};

}  // namespace

ahead_store& ahead_store::of_this_process() {
  return per_process<ahead_store>::get([] {
    static pass_listener* const listener = new told_of_passes;
    pass_listener::set(listener);
    return new ahead_store;
  });
}

void ahead_store::fetch(object_id object, const std::shared_ptr<const remote_target>& target,
                        const object_pin& pin, byte_range range, std::uint64_t max_bytes) {
  if (target->identity) target->identity->keep_fresh();
  const std::lock_guard lock{mutex_};
  while (range.begin < range.end) {
    // The first block that ends after this byte may hold it already.
    const auto next = blocks_.upper_bound({object, range.begin});
    const bool is_same = next != blocks_.end() && next->first.first == object;
    if (is_same && next->second->range.begin <= range.begin) {
      want_too(*next->second, range);
      range.begin = next->second->range.end;
      continue;
    }
    std::uint64_t end = std::min(range.end, range.begin + max_block);
    if (is_same) end = std::min(end, next->second->range.begin);
    if (!make_room(end - range.begin, max_bytes)) break;
    add(object, target, pin, {range.begin, end}, transfer_loop::urgency::ahead, {});
    range.begin = end;
  }
}

bool ahead_store::fetch_whole(object_id object, const std::shared_ptr<const remote_target>& target,
                              const object_pin& pin, byte_range range, transfer_loop::urgency when,
                              std::uint64_t max_bytes, keep_function keep) {
  const std::lock_guard lock{mutex_};
  const auto next = blocks_.upper_bound({object, range.begin});
  if (next != blocks_.end() && next->first.first == object && next->second->range.begin < range.end)
    return false;
  // A reader that waits for it needs room in any case.
  if (!make_room(range.end - range.begin, max_bytes) && when == transfer_loop::urgency::ahead)
    return false;
  add(object, target, pin, range, when, std::move(keep));
  return true;
}

void ahead_store::kept(object_id object, std::uint64_t end, const void* owner,
                       bool is_kept) noexcept {
  ahead_store* const store = per_process<ahead_store>::find();
  if (store == nullptr) return;
  const std::lock_guard lock{store->mutex_};
  const auto at = store->blocks_.find({object, end});
  if (at == store->blocks_.end() || at->second.get() != owner) return;
  block& it = *at->second;
  it.is_held = false;
  if (is_kept) {
    it.wanted.clear();
    it.used = it.size();
  }
  const bool was_told = it.now.load() == block::failed && it.used != 0;
  if (it.wanted.empty() || was_told) store->drop(at);
}

/// If it throws, there is no block: readers would wait for bytes without a request.
void ahead_store::add(object_id object, const std::shared_ptr<const remote_target>& target,
                      const object_pin& pin, byte_range range, transfer_loop::urgency when,
                      keep_function keep) {
  const auto it = std::make_shared<block>();
  it->range = range;
  it->by = std::make_shared<remote_transfer>();
  it->by->target = target;
  it->by->wanted = {wanted_bytes::kind::range, range.begin, it->size(), pin};
  it->by->out.skip(it->size());
  // `done` holds the block until after this is called.
  it->by->give_memory = [this, to = it.get()] {
    to->bytes = memory_.get(to->size());
    to->by->out.place({to->bytes.get(), static_cast<std::size_t>(to->size())});
  };
  it->is_held = static_cast<bool>(keep);
  it->asked_for = std::chrono::steady_clock::now();
  it->wanted.push_back({reading_pass(), it->size()});
  std::list<place> one{{object, range.end}};
  it->order = one.begin();
  const auto at = blocks_.emplace(one.front(), it).first;
  try {
    it->by->done = [it, keep = std::move(keep)] {
      const bool came = it->by->fault.fault == remote_fault::none;
      it->now.store(came ? block::here : block::failed, std::memory_order_release);
      it->now.notify_all();
      if (keep) keep(it, {it->bytes.get(), came ? static_cast<std::size_t>(it->size()) : 0});
    };
    transfer_loop::of_this_process().submit(it->by, when);
  } catch (...) {
    it->by->done = {};  // it holds the block
    blocks_.erase(at);
    throw;
  }
  in_order_.splice(in_order_.end(), one);
  bytes_ += it->size();
}

bool ahead_store::make_room(std::uint64_t bytes, std::uint64_t max_bytes) {
  const auto stale = std::chrono::steady_clock::now() - stale_after;
  while (bytes_ + bytes > max_bytes && !in_order_.empty()) {
    const auto oldest = blocks_.find(in_order_.front());
    const block& it = *oldest->second;
    if (it.now.load() == block::on_its_way || it.asked_for > stale || it.is_held) break;
    drop(oldest);
  }
  return bytes_ + bytes <= max_bytes;
}

ahead_store::outcome ahead_store::read(object_id object, const byte_read& part,
                                       answer_verdict& fault) {
  thread_local std::vector<block_ptr> covering;  // kept to avoid allocation
  covering.clear();
  {
    const std::lock_guard lock{mutex_};
    auto next = blocks_.upper_bound({object, part.offset});
    for (std::uint64_t at = part.offset; at < part.end(); ++next) {
      if (next == blocks_.end() || next->first.first != object || next->second->range.begin > at)
        return outcome::absent;
      covering.push_back(next->second);
      at = next->second->range.end;
    }
  }
  bool came = true;
  for (const block_ptr& each : covering) {
    if (each->now.load(std::memory_order_acquire) == block::on_its_way) {
      const network_wait measured;
      transfer_loop::of_this_process().hurry(each->by);
      each->now.wait(block::on_its_way, std::memory_order_acquire);
    }
    if (each->now.load(std::memory_order_acquire) == block::failed) {
      if (each->by->is_unwanted.load()) {  // its pass ended meanwhile, so no request was made
        covering.clear();
        return outcome::absent;
      }
      fault = each->by->fault;
      came = false;
      continue;
    }
    const std::uint64_t begin = std::max(part.offset, each->range.begin);
    const std::uint64_t end = std::min(part.end(), each->range.end);
    std::memcpy(part.out.data() + (begin - part.offset),
                each->bytes.get() + (begin - each->range.begin),
                static_cast<std::size_t>(end - begin));
  }
  const std::lock_guard lock{mutex_};
  for (const block_ptr& each : covering) {
    use(*each, {part.offset, part.end()});
    if (!each->wanted.empty() && each->now.load() == block::here) continue;
    if (each->is_held) continue;
    const auto at = blocks_.find({object, each->range.end});
    if (at != blocks_.end() && at->second == each) drop(at);
  }
  covering.clear();
  return came ? outcome::read : outcome::failed;
}

/// A pass reads the same bytes once, however often it hints them. If its hints name parts of a
/// block, they may be other ones each time.
void ahead_store::want_too(block& it, const byte_range& range) {
  const std::uint64_t bytes = it.common_with(range);
  const auto by = std::ranges::find(it.wanted, reading_pass(), &want::pass);
  if (by == it.wanted.end())
    it.wanted.push_back({reading_pass(), bytes});
  else if (bytes < it.size())
    by->left = std::min(by->left + bytes, it.size());
}

/// Bytes are read for the thread's pass; for the first that wants them, if it did not hint them.
void ahead_store::use(block& it, const byte_range& range) noexcept {
  const std::uint64_t bytes = it.common_with(range);
  it.used += bytes;
  if (it.wanted.empty()) return;  // another thread was faster
  auto by = std::ranges::find(it.wanted, reading_pass(), &want::pass);
  if (by == it.wanted.end()) by = it.wanted.begin();
  by->left -= std::min(by->left, bytes);
  if (by->left == 0) it.wanted.erase(by);
}

void ahead_store::end_pass(std::uint64_t pass) noexcept {
  if (ahead_store* const store = per_process<ahead_store>::find()) store->drop_pass(pass);
}

void ahead_store::drop_pass(std::uint64_t pass) noexcept {
  const std::lock_guard lock{mutex_};
  for (auto at = blocks_.begin(); at != blocks_.end();) {
    const auto each = at++;
    auto& wanted = each->second->wanted;
    const bool was_its =
        std::erase_if(wanted, [&](const want& by) { return by.pass == pass; }) != 0;
    if (was_its && wanted.empty() && !each->second->is_held) drop(each);
  }
}

void ahead_store::forget(object_id object) noexcept {
  if (ahead_store* const store = per_process<ahead_store>::find()) store->drop_all(object);
}

void ahead_store::drop_all(object_id object) noexcept {
  const std::lock_guard lock{mutex_};
  for (auto at = blocks_.lower_bound({object, 0});
       at != blocks_.end() && at->first.first == object;)
    drop(at++);
}

void ahead_store::drop(std::map<place, block_ptr>::iterator at) noexcept {
  const block& it = *at->second;
  if (it.now.load() == block::on_its_way) it.by->is_unwanted.store(true);
  bytes_ -= it.size();
  in_order_.erase(it.order);
  if (it.used < it.size())  // bytes that two passes read count twice
    counters().bytes_unused.fetch_add(it.size() - it.used, std::memory_order_relaxed);
  blocks_.erase(at);
}

}  // namespace feedline::detail
