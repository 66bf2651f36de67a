#pragma once

#include <feedline/error_policy.hpp>

#include "detail/rate_limiter.hpp"
#include "staging/slot_repairs.hpp"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <vector>

namespace feedline::detail {

/// Tries reads again that failed, with a growing pause before each time, and finds out which
/// samples of a run cannot be read. Any number of readers.
class read_retries {
 public:
  /// Reads samples `first` to `first + count - 1` of a run.
  using read_part = std::function<void(std::size_t first, std::size_t count)>;

  explicit read_retries(const error_policy& policy) : policy_{policy} {}

  /// Call it in the handler of the dataset_error that a run's first read threw. Blocks for the
  /// reads and the pauses.
  ///
  /// The whole run is read again first: storage that failed may be back. If that fails too, each
  /// sample is read alone, and those that fail are tried again as often as is left.
  /// @param unwanted Ends it early once true. @param bad Gets the places that cannot be read.
  /// @throws the last exception: if it says nothing about the data, if the policy is to fail, or
  /// if it was ended early.
  void read_again(std::size_t count, const read_part& read, const std::atomic<bool>& unwanted,
                  std::vector<unreadable_sample>& bad);

  /// Runs and samples that failed at first and were read later. Any thread.
  [[nodiscard]] std::uint64_t recovered() const noexcept { return recovered_.load(); }

  /// Whoever pauses wakes, and nothing is tried again. Any thread.
  void stop() noexcept;

 private:
  /// False if reading is to end. @param done Retries so far.
  [[nodiscard]] bool pause(int done, const std::exception_ptr& why,
                           const std::atomic<bool>& unwanted);
  [[nodiscard]] bool is_stopped();

  const error_policy policy_;
  std::atomic<std::uint64_t> recovered_{0};
  rate_limiter warnings_{std::chrono::seconds{1}};
  std::mutex mutex_;
  std::condition_variable stops_;
  bool stopped_ = false;
};

}  // namespace feedline::detail
