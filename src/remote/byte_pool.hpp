#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

namespace feedline::detail {

/// Memory for blocks of bytes that come and go: some of what is given back is kept, because fresh
/// memory costs a page fault for every 4 KiB. Any thread.
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
        return kept;
      }
    }
    return memory{new std::byte[room], {this, room}};
  }

 private:
  static constexpr std::size_t unit = std::size_t{16} << 10;
  static constexpr std::size_t max_kept = std::size_t{64} << 20;

  void take_back(std::byte* memory, std::size_t bytes) noexcept {
    std::unique_ptr<std::byte[]> given{memory};  // NOLINT(modernize-avoid-c-arrays)
    try {
      const std::lock_guard lock{mutex_};
      if (kept_ + bytes > max_kept) return;
      free_.emplace(bytes, std::move(given));
      kept_ += bytes;
    } catch (...) {  // NOLINT(bugprone-empty-catch): short of memory: it is freed
    }
  }

  std::mutex mutex_;
  std::multimap<std::size_t, std::unique_ptr<std::byte[]>> free_;  // NOLINT: arrays, by size
  std::size_t kept_ = 0;
};

}  // namespace feedline::detail
