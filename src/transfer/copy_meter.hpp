#pragma once

#include <feedline/backend/device.hpp>

#include "device/stream_timer.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace feedline::detail {

/// Issues copies to the device, counts their bytes, and measures some of them on their stream: the
/// fastest one gives the rate that the device and its bus reach.
///
/// Every 64th copy of 1 MiB or more is measured. A smaller one would measure the cost of starting a
/// copy; and the events around a copy cost its stream a few microseconds.
///
/// Threads: `peak` by any, the rest by the transfer.
class copy_meter {
 public:
  static constexpr std::size_t min_bytes = std::size_t{1} << 20;
  static constexpr std::uint64_t interval = 64;

  /// @throws device_error
  explicit copy_meter(const device_ptr& device) : device_{*device}, timer_{device, 1} {}

  /// Same as `device::copy`.
  void copy(void* to, const void* from, std::size_t bytes, stream_ref stream) {
    const bool measured = timer_.works() && bytes >= min_bytes && is_due();
    if (measured) measured_bytes_ = bytes;
    const bool begun = measured && timer_.begin(stream);
    device_.copy(to, from, bytes, stream);
    if (begun) timer_.end(stream);
    copied_ += bytes;
  }

  /// Bytes of all copies so far.
  [[nodiscard]] std::uint64_t bytes() const noexcept { return copied_; }
  /// Bytes a second; 0 while none is known.
  [[nodiscard]] double peak() const noexcept { return peak_.load(std::memory_order_relaxed); }

 private:
  /// True every `interval` copies. By then the previous measurement has ended, or this one is
  /// skipped.
  [[nodiscard]] bool is_due() noexcept {
    const bool due = count_++ % interval == 0;
    if (const auto took = timer_.take(); took && took->count() > 0) {
      const double seconds = std::chrono::duration<double>{*took}.count();
      const double rate = static_cast<double>(measured_bytes_) / seconds;
      peak_.store(std::max(peak(), rate), std::memory_order_relaxed);
    }
    return due && timer_.under_way() == 0;
  }

  device& device_;
  stream_timer timer_;
  std::uint64_t count_ = 0;
  std::uint64_t copied_ = 0;
  std::size_t measured_bytes_ = 0;  ///< bytes of the copy being measured
  std::atomic<double> peak_{0};
};

}  // namespace feedline::detail
