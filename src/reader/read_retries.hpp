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
#include <limits>
#include <mutex>
#include <vector>

namespace feedline::detail {

/// Tries samples again whose read failed, with a growing pause before each time, and finds out
/// which samples of a run cannot be read. Any number of readers.
class read_retries {
 public:
  /// Reads a single sample of a run, given its index in the run.
  using read_sample = std::function<void(std::size_t place)>;
  /// For `read_again`: the error names no sample of the run.
  static constexpr auto nobody = std::numeric_limits<std::size_t>::max();

  explicit read_retries(const error_policy& policy) : policy_{policy} {}

  /// Call it in the handler of the dataset_error that a run's read threw. Blocks for the
  /// duration of the reads and the pauses.
  ///
  /// Each sample is read alone and has its own tries: one, plus the policy's retries. So its
  /// outcome does not depend on the run that it was read with. The failed read counts as a try of
  /// the sample that its error names, and of no other.
  ///
  /// All samples of the run share the pauses. If the policy is to fail, each sample has its own
  /// pauses: the first that has used up its tries ends it, so a dead device is not asked for the
  /// others.
  /// @param blamed Index of the sample that the error names, or `nobody`.
  /// @param unwanted Ends it early once true. @param bad Gets the samples that cannot be read.
  /// @throws the last exception: if it says nothing about the data, if the policy is to fail, or
  /// if it was ended early.
  void read_again(std::size_t count, std::size_t blamed, const read_sample& read,
                  const std::atomic<bool>& unwanted, std::vector<unreadable_sample>& bad);

  /// Samples that failed at first and were read later, and runs whose read failed although each
  /// sample alone could be read. Any thread.
  [[nodiscard]] std::uint64_t recovered() const noexcept { return recovered_.load(); }

  /// Wakes threads that pause; nothing is retried any more. Any thread.
  void stop() noexcept;

 private:
  /// Reads samples `first` to `end - 1` of a run. False if none of them failed.
  bool read_alone(std::size_t first, std::size_t end, std::size_t blamed, const read_sample& read,
                  const std::atomic<bool>& unwanted, std::vector<unreadable_sample>& bad);
  /// False if reading should end. @param done Retries so far.
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
