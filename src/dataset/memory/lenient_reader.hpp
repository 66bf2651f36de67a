#pragma once

#include <feedline/dataset/dataset.hpp>
#include <feedline/error_policy.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

namespace feedline::detail {

/// Reads runs of a dataset under an error policy, each sample once, and keeps account of the
/// samples that cannot be read. For `load_into_memory`, which its messages name. Any number of
/// threads, except where noted.
class lenient_reader {
 public:
  /// @param cancelled Once true, reads return early and their result is not wanted. Becomes true
  ///                  when more samples than `max_share` cannot be read.
  /// @param idle      Called now and then by a thread that pauses before a retry. What it throws
  ///                  comes through.
  lenient_reader(const dataset& of, const error_policy& policy, std::atomic<bool>& cancelled,
                 std::function<void()> idle)
      : of_{of}, policy_{policy}, cancelled_{cancelled}, idle_{std::move(idle)} {}

  /// Reads a run. Where that fails, each sample is read alone, and those that fail are tried again
  /// as the policy says. The bytes of a sample that cannot be read are unspecified.
  /// @throws dataset_error for a sample that cannot be read, if the policy is to fail or too many
  ///         cannot be read; one that names the run if anything else is thrown.
  void read(std::span<const sample_index> samples, std::span<const std::span<std::byte>> out);

  /// The samples that cannot be read, in order. After all reads.
  [[nodiscard]] std::vector<std::uint64_t> unreadable() const;
  /// Counts them, and lists the first of them by index. After all reads.
  [[nodiscard]] failure_report report() const;
  /// @throws dataset_error if samples need the policy's substitute and it cannot be read either.
  ///         After all reads.
  void require_substitute() const;

 private:
  struct failure {
    std::size_t place;  ///< in the run
    std::exception_ptr cause;
  };

  /// The exception that a read throws, or null. @throws a dataset_error if it says nothing about
  /// the data.
  [[nodiscard]] std::exception_ptr failure_of(std::span<const sample_index> samples,
                                              std::span<const std::span<std::byte>> out) const;
  [[nodiscard]] std::vector<failure> read_alone(std::span<const sample_index> samples,
                                                std::span<const std::span<std::byte>> out,
                                                const std::exception_ptr& why);
  void pause(int retry) const;
  void note(sample_index sample, const std::exception_ptr& cause);

  const dataset& of_;
  const error_policy policy_;
  std::atomic<bool>& cancelled_;
  const std::function<void()> idle_;
  std::atomic<std::uint64_t> recovered_{0};
  std::mutex mutex_;
  std::vector<std::uint64_t> unreadable_;          ///< in the order in which they were met
  std::map<std::uint64_t, sample_failure> first_;  ///< `policy_.listed` of them, by sample
  std::exception_ptr substitute_cause_;            ///< why the substitute cannot be read
};

}  // namespace feedline::detail
