#pragma once

#include <feedline/statistics/download_plan.hpp>

#include "io/read_forecast.hpp"
#include "remote/cache/block_key.hpp"
#include "remote/cache/cache_folder.hpp"
#include "remote/cache/download_simulation.hpp"
#include "remote/cache/keep_order.hpp"
#include "remote/cache/keep_rules.hpp"
#include "remote/cache/use_times.hpp"

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <thread>
#include <unordered_map>

namespace feedline::detail {

/// How a cache was asked for. Constant, for all processes that come from this one by fork.
struct cache_setting {
  std::shared_ptr<cache_folder> folder = nullptr;  ///< null: in memory alone
  std::uint64_t memory_bytes = 0;
  std::uint64_t block_bytes = 0;
  /// A block that no loader of this process is known to need goes after this time without a use.
  std::chrono::seconds idle_after{600};
};

/// Blocks of objects that a process keeps, in memory and in a folder that it shares with others.
///
/// A block is fetched whole, by one process of a machine, and kept where there is room. Where there
/// is none, it comes in for the block that is needed last, if that is needed in a later epoch than
/// itself. A change among blocks of one epoch gains nothing: each that is here when the epoch
/// begins saves its bytes once. So half of a dataset of twice the size is here, and nothing is
/// written once the cache is full. Samples of other blocks are fetched alone. If the order is not
/// known, the blocks that are here stay.
///
/// Threads: any.
class object_cache {
 public:
  /// The cache of this process for a setting; a child of fork gets its own.
  [[nodiscard]] static object_cache& of_this_process(
      const std::shared_ptr<const cache_setting>& setting);
  /// From now on caches are told about loaders; in each process this one. Null: those that there
  /// are, and loaders can ask for their downloads.
  static void listen(const std::shared_ptr<const cache_setting>& setting);

  object_cache(const object_cache&) = delete;
  object_cache& operator=(const object_cache&) = delete;
  ~object_cache() = delete;  // a thread that outlasts the process's end may still ask it

  /// Whether a block is here. It may be gone when it is read.
  [[nodiscard]] bool has(const block_ref& block) noexcept;
  /// Copies bytes of a block, from its byte `offset` on. @return False: it is not here.
  [[nodiscard]] bool read(const block_ref& block, std::uint64_t offset, std::span<std::byte> out);

  /// begun: `fetch` was called, and `arrived` or `lost` follows. busy: a thread or another process
  /// fetches the block, or it is here now. refused: it will not be kept.
  enum class claim : std::uint8_t { begun, busy, refused };
  /// @param fetch Begins to fetch the block; false: it was not begun.
  [[nodiscard]] claim begin(const block_ref& block, const std::function<bool()>& fetch);

  /// A block that was begun. Made before its bytes are asked for: their arrival must not fail for
  /// lack of memory, because others wait for its end.
  struct arrival {
    std::shared_ptr<const object_identity> of;
    std::uint64_t number = 0;
    /// Is called once the bytes are kept, or are not. Does not throw.
    std::function<void(const arrival& came, bool is_kept)> done = {};

    // The bytes, set when they come.
    std::shared_ptr<const void> owner = nullptr;
    std::span<const std::byte> bytes = {};  ///< empty: they did not come

    // The cache's own.
    std::shared_ptr<arrival> next = nullptr;  ///< the one that came after it

    [[nodiscard]] block_ref block() const noexcept { return {of.get(), number}; }
  };
  /// Keeps a block, later. Does not wait, and allocates nothing.
  void arrived(std::shared_ptr<arrival> came) noexcept;

  /// Downloads of a loader's epochs. Looks at the order of up to three epochs, unless that was
  /// done. Not for threads of the cache.
  [[nodiscard]] static download_plan foretell(const std::shared_ptr<read_forecast>& data);

  /// Returns once all blocks that were begun are kept, and the order is computed, in all caches of
  /// this process. For tests.
  static void settle_all();

 private:
  struct level {
    keep_order order;
    std::uint64_t max_bytes = 0;  ///< in memory
    std::uint64_t bytes = 0;      ///< the same
  };
  enum class place : std::uint8_t { memory, folder };
  struct memory_block {
    std::shared_ptr<const void> owner;
    std::span<const std::byte> bytes;
    std::chrono::steady_clock::time_point used;
  };

  struct claimed {
    place where;
    std::uint64_t bytes;
  };

  explicit object_cache(std::shared_ptr<const cache_setting> setting);
  friend class cache_table;
  friend struct cache_listener;

  void add(const std::shared_ptr<read_forecast>& forecast);
  void start_threads();
  void stop() noexcept;
  void settle();
  static void stop_all();

  [[nodiscard]] keep_rules::wish judge(const block_ref& block);
  [[nodiscard]] bool make_room(place where, std::uint64_t bytes, const keep_rules::wish& how);
  [[nodiscard]] bool reserve(place where, std::uint64_t bytes) noexcept;
  void give_back(place where, std::uint64_t bytes) noexcept;
  [[nodiscard]] std::optional<std::uint64_t> find_idle(place where);
  void evict(place where, std::uint64_t key);
  [[nodiscard]] std::optional<double> needed_at(const block_id& block) const;
  void hold(place where, const block_id& block, std::uint64_t bytes);
  level& at(place which) noexcept { return which == place::memory ? memory_ : files_; }

  void keep(const arrival& came) noexcept;
  /// Writes a block or puts it into memory. @return False: it is not kept, for lack of room.
  [[nodiscard]] bool store(const arrival& came, place where);
  void keep_all() noexcept;
  void plan_all() noexcept;
  /// The uses of an epoch, or null if its loader has ended.
  [[nodiscard]] std::shared_ptr<const use_table> compute(const use_times::missing& wanted);
  /// Tables of an epoch and of those after it, as far as they were computed.
  [[nodiscard]] download_simulation::tables tables_of(const read_forecast& loader,
                                                      std::uint64_t epoch);
  /// @param tables Those whose blocks count as the loader's.
  [[nodiscard]] download_simulation::holding holding(const download_simulation::tables& tables);
  void look_around();
  void order_anew();

  const std::shared_ptr<const cache_setting> setting_;

  std::mutex mutex_;  ///< for all below
  std::condition_variable plans_, settles_;
  use_times times_;
  double clock_ = 0;
  level memory_, files_;
  std::unordered_map<std::uint64_t, memory_block> kept_in_memory_;
  std::unordered_map<std::uint64_t, claimed> claimed_;  ///< being fetched or written
  std::uint64_t claimed_bytes_ = 0;
  bool is_planning_ = false, is_ending_ = false, has_threads_ = false;
  std::chrono::steady_clock::time_point folder_rests_until_ = {};  ///< after a full disk
  std::chrono::steady_clock::time_point looked_ = {}, asked_idle_ = {};
  std::deque<std::uint64_t> idle_;  ///< keys of the folder's, longest unused first
  std::thread keeping_, planning_;

  std::mutex arrivals_mutex_;  ///< for all below; taken last
  std::condition_variable arrives_;
  std::shared_ptr<arrival> first_arrival_;
  arrival* last_arrival_ = nullptr;
  bool keeps_no_more_ = false;
};

}  // namespace feedline::detail
