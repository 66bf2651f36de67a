// The threads of `object_cache`: one writes blocks, the other computes when they are needed.

#include "detail/log.hpp"
#include "detail/threads.hpp"
#include "remote/cache/object_cache.hpp"
#include "remote/request/per_process.hpp"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <new>
#include <unordered_set>
#include <utility>
#include <vector>

namespace feedline::detail {

using namespace std::chrono_literals;

namespace {

constexpr auto look_around_every = 60s;

}  // namespace

/// The caches of this process, by their settings.
class cache_table {
 public:
  [[nodiscard]] static cache_table& of_this_process() {
    return per_process<cache_table>::get([] {
      (void)std::atexit(&object_cache::stop_all);
      return new cache_table;
    });
  }

  object_cache& find(const std::shared_ptr<const cache_setting>& setting) {
    const std::lock_guard lock{mutex_};
    for (const auto& [key, cache] : caches_)
      if (key == setting) return *cache;
    auto* const made = new object_cache{setting};
    caches_.emplace_back(setting, made);
    return *made;
  }
  template <class Body>
  void for_each(Body body) {
    const std::lock_guard lock{mutex_};
    for (const auto& [key, cache] : caches_) body(*cache);
  }

 private:
  std::mutex mutex_;
  std::vector<std::pair<std::shared_ptr<const cache_setting>, object_cache*>> caches_;
};

struct cache_listener final : forecast_listener {
  cache_listener() = default;
  cache_listener(const cache_listener&) = delete;
  cache_listener& operator=(const cache_listener&) = delete;
  virtual ~cache_listener() = default;

  void begins(const std::shared_ptr<read_forecast>& forecast) noexcept override try {
    // A child of fork may have read nothing yet.
    if (const auto* const setting = last.load()) (void)object_cache::of_this_process(*setting);
    if (auto* const table = per_process<cache_table>::find())
      table->for_each([&](object_cache& cache) { cache.add(forecast); });
  } catch (...) {  // NOLINT(bugprone-empty-catch): short of memory; the order stays unknown
  }

  download_plan foretell(const std::shared_ptr<read_forecast>& forecast) override {
    return object_cache::foretell(forecast);
  }

  std::atomic<const std::shared_ptr<const cache_setting>*> last{nullptr};
};

void object_cache::listen(const std::shared_ptr<const cache_setting>& setting) {
  static auto* const all = new cache_listener;
  if (setting) all->last.store(new std::shared_ptr<const cache_setting>{setting});
  forecast_listener::set(all);
}

object_cache& object_cache::of_this_process(const std::shared_ptr<const cache_setting>& setting) {
  return cache_table::of_this_process().find(setting);
}

void object_cache::stop_all() {
  if (auto* const table = per_process<cache_table>::find())
    table->for_each([](object_cache& cache) { cache.stop(); });
}

void object_cache::add(const std::shared_ptr<read_forecast>& forecast) {
  const std::lock_guard lock{mutex_};
  times_.add(forecast);
  start_threads();
  plans_.notify_one();
}

/// With the lock.
void object_cache::start_threads() {
  if (has_threads_ || is_ending_) return;
  // One of them may be there since the system had no more threads for the other one.
  if (!keeping_.joinable())
    keeping_ = start_thread("the thread that writes a cache", [this] { keep_all(); });
  if (!planning_.joinable())
    planning_ = start_thread("the thread that plans a cache", [this] { plan_all(); });
  has_threads_ = true;
}

/// Blocks that have come are still written.
void object_cache::stop() noexcept {
  {
    const std::lock_guard lock{mutex_};
    is_ending_ = true;
    plans_.notify_all();
    settles_.notify_all();
  }
  {
    const std::lock_guard lock{arrivals_mutex_};
    keeps_no_more_ = true;
    arrives_.notify_all();
  }
  if (keeping_.joinable()) keeping_.join();
  if (planning_.joinable()) planning_.join();
}

void object_cache::keep_all() noexcept {
  name_this_thread("feedline keep");
  for (;;) {
    std::shared_ptr<arrival> came;
    {
      std::unique_lock lock{arrivals_mutex_};
      arrives_.wait(lock, [this] { return first_arrival_ || keeps_no_more_; });
      if (!first_arrival_) return;
      came = std::move(first_arrival_);
      first_arrival_ = std::move(came->next);
    }
    keep(*came);
  }
}

void object_cache::plan_all() noexcept {
  name_this_thread("feedline order");
  std::unique_lock lock{mutex_};
  auto looked = std::chrono::steady_clock::now();
  bool was_told = false;
  for (;;) try {
      if (is_ending_) return;
      if (times_.drop_ended()) order_anew();
      clock_ = times_.tick();
      if (const auto wanted = times_.find_missing()) {
        is_planning_ = true;
        lock.unlock();
        auto table = compute(*wanted);
        lock.lock();
        is_planning_ = false;
        if (!table) continue;
        times_.add(wanted->forecast, std::move(table));
        order_anew();
        continue;
      }
      settles_.notify_all();
      if (setting_->folder && std::chrono::steady_clock::now() > looked + look_around_every) {
        lock.unlock();
        look_around();
        lock.lock();
        looked = std::chrono::steady_clock::now();
      }
      plans_.wait_for(lock, 1s);
    } catch (...) {
      if (!lock.owns_lock()) lock.lock();
      is_planning_ = false;
      if (!was_told)
        log_error(
            "the order of a remote cache cannot be computed: there is no memory; until there is, "
            "the cache keeps what it has");
      was_told = true;
      plans_.wait_for(lock, 1s);
    }
}

std::shared_ptr<const use_table> object_cache::compute(const use_times::missing& wanted) {
  auto table = std::make_shared<use_table>(wanted.epoch);
  const std::uint64_t positions = wanted.forecast->positions();
  for (std::uint64_t first = 0; first < positions; first += read_forecast::max_recorded) {
    const auto count = static_cast<std::size_t>(
        std::min<std::uint64_t>(read_forecast::max_recorded, positions - first));
    const bool is_there = wanted.forecast->record(wanted.epoch, first, count, *table);
    if (table->has_failed()) throw std::bad_alloc{};
    const std::lock_guard lock{mutex_};
    if (is_ending_) return nullptr;
    if (!is_there) {
      // The order cannot be computed, or the loader has ended: nothing is known of it.
      wanted.forecast->end();
      return nullptr;
    }
  }
  return table;
}

/// Finds what other processes have kept and removed.
void object_cache::look_around() {
  const std::vector<block_name> all = setting_->folder->list();
  const std::lock_guard lock{mutex_};
  std::unordered_set<std::uint64_t> keys;
  for (const block_name& each : all) {
    keys.insert(each.key);
    if (!files_.order.has(each.key)) files_.order.set(each.key, {.bytes = each.bytes});
  }
  std::vector<std::uint64_t> gone;
  files_.order.for_each([&](std::uint64_t key, const keep_order::held& block) {
    // It may have been written since the list was made.
    if (!keys.contains(key) && !setting_->folder->has({key, block.bytes})) gone.push_back(key);
  });
  for (const std::uint64_t key : gone) files_.order.remove(key);
  order_anew();
}

/// The times of all blocks, from all that is known now. With the lock.
void object_cache::order_anew() {
  for (level* const each : {&memory_, &files_}) {
    std::vector<std::pair<std::uint64_t, keep_order::held>> changed;
    each->order.for_each([&](std::uint64_t key, const keep_order::held& block) {
      changed.emplace_back(key, block);
      changed.back().second.needed_at = std::nullopt;
    });
    for (const auto& [key, block] : changed) each->order.set(key, block);
  }
  times_.for_each([this](const block_id& block) {
    const std::uint64_t key = block.key();
    for (level* const each : {&memory_, &files_})
      if (const auto* const held = each->order.find(key); held != nullptr && !held->needed_at)
        each->order.set(key, {.bytes = held->bytes, .id = block, .needed_at = needed_at(block)});
  });
}

void object_cache::settle_all() {
  if (auto* const table = per_process<cache_table>::find())
    table->for_each([](object_cache& cache) { cache.settle(); });
}

void object_cache::settle() {
  std::unique_lock lock{mutex_};
  if (!has_threads_) return;
  plans_.notify_one();
  settles_.wait(lock, [this] {
    return is_ending_ || (claimed_.empty() && !is_planning_ && !times_.find_missing());
  });
}

}  // namespace feedline::detail
