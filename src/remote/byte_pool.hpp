#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

namespace feedline::detail {

/// Memory for blocks of bytes that come and go. It is taken from slabs on huge pages, if the system
/// provides them, and what is given back is used again, the last one first: fresh memory costs a
/// page fault for every 4 KiB. Empty slabs are kept while free memory is at most half as much as
/// was ever in use, and 64 MiB in any case. Any thread.
class byte_pool {
  struct slab;

 public:
  struct give_back {
    byte_pool* to = nullptr;
    slab* of = nullptr;
    void operator()(std::byte* memory) const noexcept { to->take_back(memory, *of); }
  };
  using memory = std::unique_ptr<std::byte, give_back>;

  /// Not cleared. It must not outlive the pool. @throws std::bad_alloc
  [[nodiscard]] memory get(std::uint64_t bytes) {
    const std::size_t room = room_of(static_cast<std::size_t>(bytes));
    const std::lock_guard lock{mutex_};
    auto& slabs = slabs_[room];
    auto from = std::ranges::find_if(slabs, [](const auto& each) { return !each->free.empty(); });
    if (from == slabs.end()) {
      slabs.push_back(std::make_unique<slab>(room));
      from = std::prev(slabs.end());
      bytes_ += (*from)->bytes;
    }
    slab& of = **from;
    std::byte* const part = of.free.back();
    of.free.pop_back();
    used_ += room;
    most_used_ = std::max(most_used_, used_);
    return {part, {this, &of}};
  }

  /// Bytes of all slabs.
  [[nodiscard]] std::size_t bytes() const {
    const std::lock_guard lock{mutex_};
    return bytes_;
  }

 private:
  static constexpr std::size_t least_room = std::size_t{16} << 10;
  static constexpr std::size_t huge_page = std::size_t{2} << 20;
  static constexpr std::size_t usual_slab = 8 * huge_page;
  static constexpr std::size_t least_kept = std::size_t{64} << 20;

  struct aligned_end {
    void operator()(std::byte* bytes) const noexcept {
      ::operator delete (bytes, std::align_val_t{huge_page});
    }
  };
  struct slab {
    explicit slab(std::size_t room_of_part)
        : room{room_of_part},
          parts{std::max<std::size_t>(usual_slab / room, 1)},
          bytes{(parts * room + huge_page - 1) / huge_page * huge_page},
          memory{static_cast<std::byte*>(::operator new (bytes, std::align_val_t{huge_page}))} {
      (void)::madvise(memory.get(), bytes, MADV_HUGEPAGE);  // a wish
      free.reserve(parts);
      for (std::size_t i = parts; i-- > 0;) free.push_back(memory.get() + i * room);
    }
    [[nodiscard]] bool is_empty() const noexcept { return free.size() == parts; }

    const std::size_t room;  ///< bytes of a part
    const std::size_t parts;
    const std::size_t bytes;
    std::unique_ptr<std::byte, aligned_end> memory;
    std::vector<std::byte*> free = {};  ///< has room for all parts
  };

  /// Eight sizes from one power of two to the next.
  static std::size_t room_of(std::size_t bytes) noexcept {
    const std::size_t unit = std::max(std::bit_floor(bytes) / 8, least_room);
    return std::max((bytes + unit - 1) / unit * unit, least_room);
  }

  void take_back(std::byte* memory, slab& of) noexcept {
    const std::lock_guard lock{mutex_};
    of.free.push_back(memory);
    used_ -= of.room;
    const std::size_t free_without = bytes_ - used_ - std::min(of.bytes, bytes_ - used_);
    if (!of.is_empty() || free_without < std::max(least_kept, most_used_ / 2)) return;
    bytes_ -= of.bytes;
    std::erase_if(slabs_.find(of.room)->second,
                  [&](const auto& each) { return each.get() == &of; });
  }

  mutable std::mutex mutex_;
  std::map<std::size_t, std::vector<std::unique_ptr<slab>>> slabs_;  ///< key: size of a part
  std::size_t bytes_ = 0;
  std::size_t used_ = 0;
  std::size_t most_used_ = 0;
};

}  // namespace feedline::detail
