#pragma once

#include "remote/cache/block_key.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>

namespace feedline::detail {

/// The blocks that a cache holds, in the order in which they are needed: the one that is needed
/// last goes first (L. Belady, "A study of replacement algorithms for a virtual-storage computer",
/// IBM Systems Journal 1966). Times are absolute, on the caller's clock.
class keep_order {
 public:
  struct held {
    std::uint64_t bytes = 0;
    block_id id = {};                      ///< with a time
    std::optional<double> needed_at = {};  ///< nothing: no loader is known that needs it
  };

  [[nodiscard]] bool has(std::uint64_t key) const { return blocks_.contains(key); }
  [[nodiscard]] std::size_t size() const noexcept { return blocks_.size(); }
  [[nodiscard]] const held* find(std::uint64_t key) const {
    const auto found = blocks_.find(key);
    return found == blocks_.end() ? nullptr : &found->second;
  }

  /// Adds a block, or sets its time. @throws std::bad_alloc; then all is as it was.
  void set(std::uint64_t key, const held& block) {
    const auto [found, is_new] = blocks_.try_emplace(key, block);
    const std::optional<double> before = is_new ? std::nullopt : found->second.needed_at;
    if (before && block.needed_at) {
      auto time = times_.extract({*before, key});
      time.value().first = *block.needed_at;
      times_.insert(std::move(time));
    } else if (before) {
      times_.erase({*before, key});
    } else if (block.needed_at) {
      try {
        times_.emplace(*block.needed_at, key);
      } catch (...) {
        if (is_new) blocks_.erase(found);
        throw;
      }
    }
    found->second = block;
  }
  void remove(std::uint64_t key) {
    const auto found = blocks_.find(key);
    if (found == blocks_.end()) return;
    if (found->second.needed_at) times_.erase({*found->second.needed_at, key});
    blocks_.erase(found);
  }

  /// Blocks whose time is over are needed at another time now. @param time_of Takes a block's id,
  /// and gives a time after `now`.
  template <class TimeOf>
  void advance(double now, TimeOf time_of) {
    while (!times_.empty() && times_.begin()->first < now) {
      const std::uint64_t key = times_.begin()->second;
      held block = blocks_.at(key);
      block.needed_at = time_of(block.id);
      set(key, block);
    }
  }

  /// A block that is needed after `time`, the last of all that are not in use.
  /// @param is_in_use Takes a block's id. Some of the last ones are asked, no more.
  template <class IsInUse>
  [[nodiscard]] std::optional<std::uint64_t> needed_after(double time, IsInUse is_in_use) const {
    constexpr int most = 64;
    int asked = 0;
    for (auto each = times_.rbegin(); each != times_.rend() && asked < most; ++each, ++asked) {
      if (each->first <= time) return std::nullopt;
      if (!is_in_use(blocks_.at(each->second).id)) return each->second;
    }
    return std::nullopt;
  }

  template <class Body>
  void for_each(Body body) const {
    for (const auto& [key, block] : blocks_) body(key, block);
  }

 private:
  std::unordered_map<std::uint64_t, held> blocks_;
  std::set<std::pair<double, std::uint64_t>> times_;
};

}  // namespace feedline::detail
