#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

namespace feedline::detail {

/// Memory for blocks of bytes that come and go: some of what is given back is kept, because fresh
/// memory costs a page fault for every 4 KiB. Half as much as was ever in use is, and 64 MiB at
/// least. Any thread.
class byte_pool {
 public:
  struct give_back {
    byte_pool* to = nullptr;
    std::size_t bytes = 0;
    void operator()(std::byte* memory) const noexcept { to->take_back(memory, bytes); }
  };
  using memory = std::unique_ptr<std::byte, give_back>;

  /// Not cleared. It must not outlive the pool.
  [[nodiscard]] memory get(std::uint64_t bytes) {
    const std::size_t room = (static_cast<std::size_t>(bytes) + unit - 1) / unit * unit;
    {
      const std::lock_guard lock{mutex_};
      const auto found = free_.lower_bound(room);
      if (found != free_.end() && found->first <= room + room / 4) {
        const std::size_t found_bytes = found->first;
        memory kept{found->second.release(), {this, found_bytes}};
        free_.erase(found);
        kept_ -= found_bytes;
        use(found_bytes);
        return kept;
      }
    }
    memory fresh{new std::byte[room], {this, room}};
    const std::lock_guard lock{mutex_};
    use(room);
    return fresh;
  }

 private:
  static constexpr std::size_t unit = std::size_t{16} << 10;
  static constexpr std::size_t least_kept = std::size_t{64} << 20;

  void use(std::size_t bytes) noexcept {
    used_ += bytes;
    most_used_ = std::max(most_used_, used_);
  }

  void take_back(std::byte* memory, std::size_t bytes) noexcept {
    std::unique_ptr<std::byte[]> given{memory};  // NOLINT(modernize-avoid-c-arrays)
    try {
      const std::lock_guard lock{mutex_};
      used_ -= bytes;
      if (kept_ + bytes > std::max(least_kept, most_used_ / 2)) return;
      free_.emplace(bytes, std::move(given));
      kept_ += bytes;
    } catch (...) {  // NOLINT(bugprone-empty-catch): short of memory: it is freed
    }
  }

  std::mutex mutex_;
  std::multimap<std::size_t, std::unique_ptr<std::byte[]>> free_;  // NOLINT: arrays, by size
  std::size_t kept_ = 0;
  std::size_t used_ = 0;
  std::size_t most_used_ = 0;
};

}  // namespace feedline::detail
