#include "remote/cache/object_cache.hpp"

#include "detail/log.hpp"
#include "remote/cache/cache_counts.hpp"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

namespace feedline::detail {
namespace {

using namespace std::chrono_literals;

/// Bytes that are being fetched or written, at most: a folder that is slower than the network must
/// not fill the memory.
constexpr std::uint64_t max_claimed_bytes = std::uint64_t{512} << 20;
constexpr auto rest_after_full_disk = 30s;
constexpr auto ask_idle_every = 10s;

block_name name_of(const block_ref& block) noexcept {
  return {block.id().key(), block.bytes()};
}

}  // namespace

object_cache::object_cache(std::shared_ptr<const cache_setting> setting)
    : setting_{std::move(setting)} {
  memory_.max_bytes = setting_->memory_bytes;
  if (!setting_->folder) return;
  setting_->folder->enter();
  look_around();
}

bool object_cache::has(const block_ref& block) noexcept try {
  if (setting_->memory_bytes != 0) {
    const std::lock_guard lock{mutex_};
    if (kept_in_memory_.contains(block.id().key())) return true;
  }
  return setting_->folder && setting_->folder->has(name_of(block));
} catch (...) {
  return false;
}

bool object_cache::read(const block_ref& block, std::uint64_t offset, std::span<std::byte> out) {
  cache_counters& counts = cache_counts();
  const std::uint64_t key = block.id().key();
  if (setting_->memory_bytes != 0) {
    std::shared_ptr<const void> owner;
    std::span<const std::byte> bytes;
    {
      const std::lock_guard lock{mutex_};
      if (const auto found = kept_in_memory_.find(key); found != kept_in_memory_.end()) {
        owner = found->second.owner;
        bytes = found->second.bytes;
        found->second.used = std::chrono::steady_clock::now();
      }
    }
    if (owner) {
      std::memcpy(out.data(), bytes.data() + offset, out.size());
      counts.reads.fetch_add(1, std::memory_order_relaxed);
      counts.memory_bytes.fetch_add(out.size(), std::memory_order_relaxed);
      return true;
    }
  }
  if (!setting_->folder) return false;
  const auto outcome = setting_->folder->read(name_of(block), block.text(), offset, out);
  if (outcome == cache_folder::outcome::read) {
    counts.reads.fetch_add(1, std::memory_order_relaxed);
    counts.folder_bytes.fetch_add(out.size(), std::memory_order_relaxed);
    return true;
  }
  if (outcome == cache_folder::outcome::damaged) {
    counts.damaged.fetch_add(1, std::memory_order_relaxed);
    const std::lock_guard lock{mutex_};
    files_.order.remove(key);
  }
  return false;
}

object_cache::claim object_cache::begin(const block_ref& block,
                                        const std::function<bool()>& fetch) {
  const std::uint64_t key = block.id().key();
  const std::uint64_t in_folder = cache_folder::counted(block.bytes());
  const auto& folder = setting_->folder;
  const std::lock_guard lock{mutex_};
  if (is_ending_) return claim::refused;
  if (claimed_.contains(key) || kept_in_memory_.contains(key)) return claim::busy;
  if (folder && folder->is_locked_elsewhere(key)) return claim::busy;
  bool is_locked = false;
  std::optional<place> found;
  claim outcome = claim::refused;
  try {
    const keep_rules::wish how = judge(block);
    if (!how.is_wanted || claimed_bytes_ + block.bytes() > max_claimed_bytes) return outcome;
    if (folder && std::chrono::steady_clock::now() >= folder_rests_until_) {
      is_locked = folder->lock(key);
      if (!is_locked) return claim::busy;
      if (folder->has(name_of(block)))  // another process has just kept it
        outcome = claim::busy;
      else if (make_room(place::folder, in_folder, how))
        found = place::folder;
    }
    if (!found && outcome == claim::refused && how.may_be_in_memory &&
        make_room(place::memory, block.bytes(), how))
      found = place::memory;
    if (found) {
      start_threads();
      claimed_.emplace(key, claimed{*found, block.bytes()});
      if (fetch()) outcome = claim::begun;
    }
  } catch (...) {  // NOLINT(bugprone-empty-catch): it is fetched without the cache, or fails there
  }
  const bool is_begun = outcome == claim::begun;
  if (is_locked && (!is_begun || found != place::folder)) folder->unlock(key);
  if (is_begun) {
    claimed_bytes_ += block.bytes();
  } else if (found) {
    claimed_.erase(key);
    give_back(*found, *found == place::folder ? in_folder : block.bytes());
  }
  return outcome;
}

keep_rules::wish object_cache::judge(const block_ref& block) {
  clock_ = times_.tick();
  if (times_.find_missing()) plans_.notify_one();
  return keep_rules::judge(times_.ask(block.id()), block.bytes(), clock_);
}

std::optional<double> object_cache::needed_at(const block_id& block) const {
  return keep_rules::needed_at(times_.ask(block), clock_);
}

bool object_cache::reserve(place where, std::uint64_t bytes) noexcept {
  if (where == place::folder) return setting_->folder->reserve(bytes);
  if (bytes > memory_.max_bytes || memory_.bytes > memory_.max_bytes - bytes) return false;
  memory_.bytes += bytes;
  return true;
}

void object_cache::give_back(place where, std::uint64_t bytes) noexcept {
  if (where == place::folder)
    setting_->folder->release(bytes);
  else
    memory_.bytes -= bytes;
}

bool object_cache::make_room(place where, std::uint64_t bytes, const keep_rules::wish& how) {
  if (where == place::memory && setting_->memory_bytes == 0) return false;
  keep_order& order = at(where).order;
  while (!reserve(where, bytes)) {
    order.advance(clock_, [this](const block_id& block) { return needed_at(block); });
    std::optional<std::uint64_t> victim = find_idle(where);
    if (!victim && how.may_replace)
      victim = order.needed_after(
          how.reuse_end, [this](const block_id& block) { return times_.ask(block).is_in_use; });
    if (!victim) return false;
    evict(where, *victim);
  }
  return true;
}

/// Blocks of which no loader here is known that needs them: other jobs' or earlier ones'.
std::optional<std::uint64_t> object_cache::find_idle(place where) {
  const auto now = std::chrono::steady_clock::now();
  if (where == place::memory) {
    std::optional<std::uint64_t> found;
    if (now < asked_idle_ + ask_idle_every) return found;
    memory_.order.for_each([&](std::uint64_t key, const keep_order::held& block) {
      const auto kept = kept_in_memory_.find(key);
      if (!block.needed_at && kept != kept_in_memory_.end() &&
          kept->second.used + setting_->idle_after < now)
        found = key;
    });
    if (!found) asked_idle_ = now;
    return found;
  }
  while (!idle_.empty()) {
    const std::uint64_t key = idle_.front();
    idle_.pop_front();
    const auto* const block = files_.order.find(key);
    if (block != nullptr && !block->needed_at &&
        setting_->folder->unused_for({key, block->bytes}) >= setting_->idle_after)
      return key;  // another process may have used it since the list was made
  }
  if (now < looked_ + ask_idle_every) return std::nullopt;
  looked_ = now;
  std::vector<std::pair<std::chrono::seconds, std::uint64_t>> unused;
  files_.order.for_each([&](std::uint64_t key, const keep_order::held& block) {
    if (block.needed_at) return;
    const auto time = setting_->folder->unused_for({key, block.bytes});
    if (time >= setting_->idle_after) unused.emplace_back(time, key);
  });
  std::ranges::sort(unused, std::greater{});
  for (const auto& [time, key] : unused) idle_.push_back(key);
  if (idle_.empty()) return std::nullopt;
  return find_idle(where);
}

void object_cache::evict(place where, std::uint64_t key) {
  keep_order& order = at(where).order;
  const std::uint64_t bytes = order.find(key)->bytes;
  order.remove(key);
  bool was_here = true;
  if (where == place::folder) {
    was_here = setting_->folder->remove({key, bytes});
  } else {
    kept_in_memory_.erase(key);
    memory_.bytes -= bytes;
  }
  if (was_here) cache_counts().evicted.fetch_add(1, std::memory_order_relaxed);
}

void object_cache::hold(place where, const block_id& block, std::uint64_t bytes) {
  at(where).order.set(block.key(), {.bytes = bytes, .id = block, .needed_at = needed_at(block)});
}

void object_cache::arrived(std::shared_ptr<arrival> came) noexcept {
  const std::lock_guard lock{arrivals_mutex_};
  arrival* const last = came.get();
  (first_arrival_ ? last_arrival_->next : first_arrival_) = std::move(came);
  last_arrival_ = last;
  arrives_.notify_one();
}

bool object_cache::store(const arrival& came, place where) {
  const block_ref block = came.block();
  const std::uint64_t key = block.id().key();
  cache_counters& counts = cache_counts();
  if (where == place::folder && setting_->folder->store(name_of(block), block.text(), came.bytes) !=
                                    cache_folder::stored::yes) {
    counts.not_written.fetch_add(1, std::memory_order_relaxed);
    return false;
  }
  const std::lock_guard lock{mutex_};
  clock_ = times_.tick();
  try {
    hold(where, block.id(), block.bytes());
    if (where == place::memory)
      kept_in_memory_.insert_or_assign(
          key, memory_block{came.owner, came.bytes, std::chrono::steady_clock::now()});
  } catch (...) {
    if (where == place::memory) {
      memory_.order.remove(key);
      throw;
    }  // its file is there, and is found when the folder is listed
  }
  counts.stored.fetch_add(1, std::memory_order_relaxed);
  counts.stored_bytes.fetch_add(block.bytes(), std::memory_order_relaxed);
  return true;
}

/// Ends a claim, whatever happens: other threads and processes wait for that.
void object_cache::keep(const arrival& came) noexcept {
  const block_ref block = came.block();
  const std::uint64_t key = block.id().key();
  place where = place::memory;
  {
    const std::lock_guard lock{mutex_};
    where = claimed_.find(key)->second.where;
  }
  bool is_kept = false;
  bool is_full = false;
  if (!came.bytes.empty()) try {
      is_kept = store(came, where);
      is_full = !is_kept;
    } catch (...) {
      log_error("a block of a remote object cannot be cached: there is no memory");
    }
  if (!is_kept) {
    const std::lock_guard lock{mutex_};
    give_back(where, where == place::folder ? cache_folder::counted(block.bytes()) : block.bytes());
    if (is_full) folder_rests_until_ = std::chrono::steady_clock::now() + rest_after_full_disk;
  }
  if (came.done) came.done(came, is_kept);
  const std::lock_guard lock{mutex_};
  if (where == place::folder) setting_->folder->unlock(key);
  claimed_.erase(key);
  claimed_bytes_ -= block.bytes();
  if (claimed_.empty()) settles_.notify_all();
}

}  // namespace feedline::detail
