#pragma once

#include <feedline/backend/device.hpp>

#include "device/leak.hpp"
#include "device/owned.hpp"

#include <algorithm>
#include <cstddef>
#include <deque>
#include <mutex>
#include <string_view>
#include <utility>
#include <vector>

namespace feedline::detail {

/// The memory of slots beyond those that a ring was made with: each has its own allocation. Any
/// thread may call anything; a slot's memory is used by one thread at a time.
class further_memory {
 public:
  further_memory(device_ptr device, memory_kind kind) : device_{std::move(device)}, kind_{kind} {}

  [[nodiscard]] memory_kind kind() const noexcept { return kind_; }

  /// Gives a slot memory of at least so many bytes. Memory that was too small stays until the slot
  /// is emptied, because earlier work may still use it. Returns the slot's address.
  /// @param number The further slot, from 0. @throws out_of_memory, device_error.
  [[nodiscard]] std::byte* fit(std::size_t number, std::size_t bytes) {
    if (room(number) < bytes) {
      device_memory added{device_, kind_, bytes, short_lived};
      const std::scoped_lock lock{mutex_};
      if (slots_.size() <= number) slots_.resize(number + 1);
      slots_[number].push_back(std::move(added));
      bytes_ += bytes;
      max_bytes_ = std::max(max_bytes_, bytes_);
    }
    const std::scoped_lock lock{mutex_};
    return slots_[number].back().data();
  }
  /// Bytes that a slot has room for; 0: it has no memory.
  [[nodiscard]] std::size_t room(std::size_t number) const {
    const std::scoped_lock lock{mutex_};
    return number < slots_.size() && !slots_[number].empty() ? slots_[number].back().bytes() : 0;
  }
  /// Frees a slot's memory, which no work uses any more.
  void empty(std::size_t number) noexcept {
    std::vector<device_memory> freed;  // without the lock: host memory may take long
    const std::scoped_lock lock{mutex_};
    freed.swap(slots_[number]);
    for (const device_memory& each : freed) bytes_ -= each.bytes();
  }

  /// All memory now, and the most that there was at a time.
  [[nodiscard]] std::pair<std::size_t, std::size_t> bytes() const {
    const std::scoped_lock lock{mutex_};
    return {bytes_, max_bytes_};
  }
  /// How many slots have memory.
  [[nodiscard]] std::size_t slots() const {
    const std::scoped_lock lock{mutex_};
    return static_cast<std::size_t>(
        std::ranges::count_if(slots_, [](const auto& each) { return !each.empty(); }));
  }
  /// Never frees any of it. @param whose Same as for `detail::leak`.
  void leak(std::string_view whose) noexcept {
    const std::scoped_lock lock{mutex_};
    for (auto& slot : slots_)
      for (device_memory& each : slot) detail::leak(each, whose);
  }

 private:
  device_ptr device_;
  memory_kind kind_;
  mutable std::mutex mutex_;
  std::deque<std::vector<device_memory>> slots_;  ///< the last one of each is the slot's memory
  std::size_t bytes_ = 0;
  std::size_t max_bytes_ = 0;
};

}  // namespace feedline::detail
