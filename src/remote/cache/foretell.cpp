// Forecasts of downloads for `object_cache`.

#include "remote/cache/download_simulation.hpp"
#include "remote/cache/object_cache.hpp"

#include <algorithm>
#include <new>
#include <utility>

namespace feedline::detail {
namespace {

/// An epoch is foretold by the two after it.
constexpr std::size_t max_epochs = 3;

std::shared_ptr<const use_table> table_of(read_forecast& loader, std::uint64_t epoch) {
  auto table = std::make_shared<use_table>(epoch, use_table::files::all_remote);
  for (std::uint64_t first = 0; first < loader.positions(); first += read_forecast::max_recorded) {
    const auto count = static_cast<std::size_t>(
        std::min<std::uint64_t>(read_forecast::max_recorded, loader.positions() - first));
    if (!loader.record(epoch, first, count, *table)) return nullptr;
    if (table->has_failed()) throw std::bad_alloc{};
  }
  return table;
}

/// Asks the simulation about a larger cache.
class larger_caches {
 public:
  larger_caches(const download_simulation& of, const cache_setting* now)
      : of_{of},
        in_folder_{now == nullptr || now->folder},
        folder_{now != nullptr && now->folder ? now->folder->max_bytes() : 0},
        memory_{now == nullptr ? 0 : now->memory_bytes} {}

  [[nodiscard]] download_simulation::room now() const noexcept { return {folder_, memory_}; }
  [[nodiscard]] std::uint64_t bytes() const noexcept { return folder_ + memory_; }
  [[nodiscard]] std::uint64_t whole() const { return of_.room_for_all(in_folder_); }
  /// Downloads of an epoch after the first with a cache of some bytes, which begins empty. The
  /// folder grows, and the memory where there is no folder.
  [[nodiscard]] std::uint64_t later_with(std::uint64_t bytes) const {
    const auto most = in_folder_ ? download_simulation::room{bytes - memory_, memory_}
                                 : download_simulation::room{0, bytes};
    return of_.run(most, {}).at(1);
  }

 private:
  const download_simulation& of_;
  bool in_folder_;
  std::uint64_t folder_, memory_;
};

}  // namespace

download_plan object_cache::foretell(const std::shared_ptr<read_forecast>& data) {
  read_forecast& loader = *data;
  const std::uint64_t epoch = loader.now() / loader.positions();
  download_simulation::tables tables;
  const auto is_first_there = table_of(loader, epoch);
  if (!is_first_there) return {};
  tables.push_back(is_first_there);
  const auto setting = is_first_there->cache();
  object_cache* const cache = setting ? &of_this_process(setting) : nullptr;
  const auto computed =
      cache == nullptr ? download_simulation::tables{} : cache->tables_of(loader, epoch);
  for (std::uint64_t next = epoch + 1; tables.size() < max_epochs && loader.has_epoch(next);
       ++next) {
    const auto found =
        std::ranges::find(computed, next, [](const auto& each) { return each->epoch; });
    auto table = found == computed.end() ? table_of(loader, next) : *found;
    if (!table) break;  // its order is not known
    tables.push_back(std::move(table));
  }

  const download_simulation simulation{tables, loader.positions(), loader.epochs(),
                                       loader.is_shared()};
  download_plan plan{.epoch = epoch, .needed_bytes = simulation.needed()};
  plan.is_known = plan.needed_bytes != 0;
  if (!plan.is_known) return {};
  const larger_caches caches{simulation, setting.get()};
  plan.cache_bytes = caches.bytes();
  const auto now = simulation.run(
      caches.now(), cache == nullptr ? download_simulation::holding{} : cache->holding(tables));
  plan.epoch_bytes = now.front();
  if (now.size() < 2) return plan;
  plan.later_bytes = now[1];
  const std::uint64_t whole = caches.whole();
  if (whole <= plan.cache_bytes || plan.later_bytes == 0) return plan;
  plan.whole_cache = whole;
  plan.later_with_whole = caches.later_with(whole);
  const std::uint64_t larger = plan.cache_bytes == 0 ? whole / 2 : 2 * plan.cache_bytes;
  if (larger >= whole) return plan;
  plan.larger_cache = larger;
  plan.later_with_larger = caches.later_with(larger);
  return plan;
}

download_simulation::tables object_cache::tables_of(const read_forecast& loader,
                                                    std::uint64_t epoch) {
  const std::lock_guard lock{mutex_};
  return times_.tables_of(loader, epoch);
}

download_simulation::holding object_cache::holding(const download_simulation::tables& tables) {
  download_simulation::holding held;
  if (setting_->folder) look_around();
  const std::lock_guard lock{mutex_};
  std::uint64_t own_memory = 0;
  std::uint64_t own_folder = 0;
  const auto add = [&](place where, std::uint64_t key, std::uint64_t bytes) {
    if (where == place::memory && held.memory.emplace(key, bytes).second) own_memory += bytes;
    if (where == place::folder && held.folder.emplace(key, bytes).second)
      own_folder += cache_folder::counted(bytes);
  };
  for (const auto& table : tables)
    table->for_each([&](const block_id& block) {
      const std::uint64_t key = block.key();
      if (const auto* const kept = memory_.order.find(key)) add(place::memory, key, kept->bytes);
      if (const auto* const kept = files_.order.find(key)) add(place::folder, key, kept->bytes);
      // A block that is on its way has its room, and is not fetched again.
      if (const auto found = claimed_.find(key); found != claimed_.end())
        add(found->second.where, key, found->second.bytes);
    });
  held.others.memory = memory_.bytes - std::min(memory_.bytes, own_memory);
  if (!setting_->folder) return held;
  // Blocks that nothing is known to need go once they are not used for a while.
  files_.order.for_each([&](std::uint64_t key, const keep_order::held& block) {
    const bool is_idle = !block.needed_at && !held.folder.contains(key) &&
                         setting_->folder->unused_for({key, block.bytes}) >= setting_->idle_after;
    if (is_idle) own_folder += cache_folder::counted(block.bytes);
  });
  const std::uint64_t used = setting_->folder->used();
  held.others.folder = used - std::min(used, own_folder);
  return held;
}

}  // namespace feedline::detail
