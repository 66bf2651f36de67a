#pragma once

#include <feedline/backend/device.hpp>
#include <feedline/batch/batch.hpp>
#include <feedline/sampler/shuffle.hpp>

#include "support/devices/wrapped_device.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <utility>

namespace feedline::test {

/// Where a delay is.
enum class late : std::uint8_t {
  order,     ///< a reader asks for samples' numbers
  read,      ///< a reader reads
  copy,      ///< the transfer issues a copy or an assembly
  record,    ///< the transfer, or who ends a lease, records an event
  wait,      ///< the transfer, or the consumer, lets a stream wait
  ask,       ///< a reader asks whether a copy is done
  function,  ///< the user's function runs
  consumer,  ///< the consumer has a batch
  release,   ///< another thread ends a batch
};
inline constexpr std::array late_names{"order", "read",     "copy",     "record", "wait",
                                       "ask",   "function", "consumer", "release"};

/// Delays that were, by stage.
using delay_counts = std::array<std::atomic<std::uint64_t>, late_names.size()>;

/// Adds to counts that processes share.
inline void add(const delay_counts& counts, delay_counts& sums) {
  for (std::size_t i = 0; i < counts.size(); ++i) sums[i] += counts[i];
}

/// "order 12, read 7, ...".
inline std::string to_string(const delay_counts& counts) {
  std::string text;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    text += (i == 0 ? "" : ", ") + std::string{late_names[i]} + " " +
            std::to_string(counts[i].load(std::memory_order_relaxed));
  }
  return text;
}

/// Delays, of lengths that one seed draws. Any thread.
class delays {
 public:
  /// @param rare One call in this many is delayed.
  /// @param counts Where delays are counted; outlives this.
  delays(std::uint64_t seed, std::uint64_t rare, delay_counts& counts)
      : state_{seed}, rare_{rare}, counts_{counts} {}

  void operator()(late at) {
    const std::uint64_t drawn = draw();
    if (drawn % rare_ != 0) return;
    counts_[static_cast<std::size_t>(at)].fetch_add(1, std::memory_order_relaxed);
    const std::uint64_t length = drawn / rare_ % 64;
    if (length == 0) return std::this_thread::sleep_for(std::chrono::microseconds{50});
    for (std::uint64_t i = 0; i < length % 8; ++i) std::this_thread::yield();
  }

  [[nodiscard]] bool one_in(std::uint64_t n) { return draw() % n == 0; }

 private:
  /// splitmix64, over a count that all threads share.
  std::uint64_t draw() {
    std::uint64_t bits = state_.fetch_add(0x9e37'79b9'7f4a'7c15U, std::memory_order_relaxed);
    bits = (bits ^ bits >> 30U) * 0xbf58'476d'1ce4'e5b9U;
    bits = (bits ^ bits >> 27U) * 0x94d0'49bb'1331'11ebU;
    return bits ^ bits >> 31U;
  }

  std::atomic<std::uint64_t> state_;
  std::uint64_t rare_;
  delay_counts& counts_;
};

/// A device with copies, also in the host's memory; each call may take a while.
class slow_device : public wrapped_device {
 public:
  slow_device(device_ptr real, delays& by) : wrapped_device{std::move(real)}, by_{by} {}

  [[nodiscard]] device_capabilities capabilities() const override {
    // Memory that is mapped is the real device's concern, so its pages are those of that device.
    return {.name = "slow",
            .reads_staging = false,
            .map_granularity = wrapped_device::capabilities().map_granularity};
  }
  void copy(void* to, const void* from, std::size_t bytes, stream_ref stream) override {
    by_(late::copy);
    wrapped_device::copy(to, from, bytes, stream);
  }
  void assemble(const assembly& work, stream_ref stream) override {
    by_(late::copy);
    wrapped_device::assemble(work, stream);
  }
  void record(event_handle event, stream_ref stream) override {
    by_(late::record);
    wrapped_device::record(event, stream);
  }
  void wait(stream_ref stream, event_handle event) override {
    by_(late::wait);
    wrapped_device::wait(stream, event);
  }
  /// A copy seems to last a while.
  [[nodiscard]] bool is_done(event_handle event) override {
    by_(late::ask);
    return !by_.one_in(32) && wrapped_device::is_done(event);
  }

 private:
  delays& by_;
};

/// `shuffle`, late.
struct slow_sampler {
  delays* by;
  shuffle order;

  [[nodiscard]] std::uint64_t size(std::uint64_t samples) const { return samples; }
  void indices(std::uint64_t samples, std::uint64_t epoch, position first,
               std::span<sample_index> out) const {
    (*by)(late::order);
    order.indices(samples, epoch, first, out);
  }
};

/// Ends batches on a thread of its own, some time after it was given them.
class late_end {
 public:
  explicit late_end(delays& by) : by_{by}, thread_{[this] { run(); }} {}
  late_end(const late_end&) = delete;
  late_end& operator=(const late_end&) = delete;
  ~late_end() {
    {
      const std::scoped_lock lock{mutex_};
      ending_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }
  /// Waits while another batch is here.
  void give(batch taken) {
    std::unique_lock lock{mutex_};
    changed_.wait(lock, [this] { return !held_; });
    held_.emplace(std::move(taken));
    changed_.notify_all();
  }

 private:
  void run() {
    std::unique_lock lock{mutex_};
    for (;;) {
      changed_.wait(lock, [this] { return held_ || ending_; });
      if (!held_) return;
      std::optional<batch> ended{std::exchange(held_, std::nullopt)};
      lock.unlock();
      changed_.notify_all();
      by_(late::release);
      ended.reset();
      lock.lock();
    }
  }

  delays& by_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<batch> held_;
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace feedline::test
