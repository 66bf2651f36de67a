#pragma once

#include <feedline/dataset/dataset.hpp>
#include <feedline/error.hpp>
#include <feedline/error_policy.hpp>

#include "dataset/composed.hpp"
#include "dataset/foreign_error.hpp"
#include "detail/error_policies.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <iterator>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace feedline::detail {

/// Reads runs of a dataset under an error policy, each sample once, and keeps account of the
/// samples that cannot be read. For `load_into_memory`, which its messages name and whose source
/// alone includes this. Any number of threads, except where noted.
class lenient_reader {
 public:
  /// @param cancelled Once true, reads return early and what they read is not wanted. Becomes true
  ///                  when more samples than `max_share` cannot be read.
  /// @param idle      Called now and then by a thread that pauses before a retry. What it throws
  ///                  comes through.
  lenient_reader(const dataset& of, const error_policy& policy, std::atomic<bool>& cancelled,
                 std::function<void()> idle)
      : of_{of}, policy_{policy}, cancelled_{cancelled}, idle_{std::move(idle)} {}

  /// Reads a run. Where that fails, each sample is read alone, and those that fail are tried again
  /// as the policy says. The bytes of a sample that cannot be read are unspecified.
  /// @throws dataset_error of a sample that cannot be read, if the policy is to fail or too many
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

  /// What a read throws, or null. @throws a dataset_error if it says nothing about the data.
  [[nodiscard]] std::exception_ptr failure_of(std::span<const sample_index> samples,
                                              std::span<const std::span<std::byte>> out) const;
  [[nodiscard]] std::vector<failure> read_alone(std::span<const sample_index> samples,
                                                std::span<const std::span<std::byte>> out,
                                                const std::exception_ptr& why);
  /// Throws an error about a sample, with its cause nested.
  [[noreturn]] static void refuse(std::uint64_t sample, const std::exception_ptr& cause,
                                  const std::string& why, const std::string& remedy);
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

inline void lenient_reader::refuse(std::uint64_t sample, const std::exception_ptr& cause,
                                   const std::string& why, const std::string& remedy) {
  try {
    std::rethrow_exception(cause);
  } catch (const dataset_error& error) {
    dataset_location where = error.where();
    where.sample = sample;
    std::throw_with_nested(
        dataset_error{std::move(where),
                      fmt::format("load_into_memory: {}: {}; {}", why, error.message(), remedy)});
  }
}

inline void lenient_reader::read(std::span<const sample_index> samples,
                                 std::span<const std::span<std::byte>> out) {
  const std::exception_ptr why = failure_of(samples, out);
  if (!why) return;
  const bool fails = policy_.action == error_action::fail;
  if (fails && policy_.retries == 0) std::rethrow_exception(why);
  const std::vector<failure> bad = read_alone(samples, out, why);
  if (cancelled_.load() || bad.empty()) return;
  if (fails) std::rethrow_exception(bad.front().cause);
  for (const failure& each : bad) note(samples[each.place], each.cause);
}

inline std::exception_ptr lenient_reader::failure_of(
    std::span<const sample_index> samples, std::span<const std::span<std::byte>> out) const {
  try {
    of_.read_in_turn(samples, out);
    return nullptr;
  } catch (const dataset_error&) {
    if (!is_of_data(std::current_exception())) throw;
    return std::current_exception();
  } catch (...) {
    std::throw_with_nested(foreign_error{
        {},
        "load_into_memory: samples " + std::to_string(samples.front().value) + " to " +
            std::to_string(samples.back().value) + " could not be read: " + current_words()});
  }
}

inline std::vector<lenient_reader::failure> lenient_reader::read_alone(
    std::span<const sample_index> samples, std::span<const std::span<std::byte>> out,
    const std::exception_ptr& why) {
  std::vector<std::span<std::byte>> row(out.size());
  const auto failure_at = [&](std::size_t place) {
    for (std::size_t f = 0; f < out.size(); ++f) {
      const std::size_t row_bytes = out[f].size() / samples.size();
      row[f] = out[f].subspan(place * row_bytes, row_bytes);
    }
    return failure_of(samples.subspan(place, 1), row);
  };
  std::vector<failure> bad;
  for (std::size_t place = 0; place < samples.size() && !cancelled_; ++place) {
    auto cause = samples.size() == 1 ? why : failure_at(place);
    if (cause) bad.push_back({place, std::move(cause)});
  }
  if (bad.empty()) ++recovered_;
  for (int retry = 0; retry < policy_.retries && !bad.empty() && !cancelled_; ++retry) {
    pause(retry);
    std::erase_if(bad, [&](failure& each) {
      if (cancelled_) return false;
      each.cause = failure_at(each.place);
      if (!each.cause) ++recovered_;
      return !each.cause;
    });
  }
  return bad;
}

inline void lenient_reader::pause(int retry) const {
  using clock = std::chrono::steady_clock;
  constexpr clock::duration look_every = std::chrono::milliseconds{20};
  const auto end = clock::now() + pause_before(retry, policy_);
  for (auto now = clock::now(); now < end && !cancelled_; now = clock::now()) {
    idle_();
    std::this_thread::sleep_for(std::min<clock::duration>(end - now, look_every));
  }
}

inline void lenient_reader::note(sample_index sample, const std::exception_ptr& cause) {
  const std::scoped_lock lock{mutex_};
  const bool replaces = policy_.action == error_action::substitute;
  unreadable_.push_back(sample.value);
  if (replaces && sample.value == policy_.substitute) substitute_cause_ = cause;
  try {
    std::rethrow_exception(cause);
  } catch (const dataset_error& error) {
    const auto by = replaces ? std::optional{sample_index{policy_.substitute}} : std::nullopt;
    first_.insert({sample.value,
                   {.epoch = 0,
                    .position = {sample.value},
                    .sample = sample,
                    .path = error.path(),
                    .message = error.what(),
                    .action = policy_.action,
                    .replaced_by = by}});
  }
  if (first_.size() > policy_.listed) first_.erase(std::prev(first_.end()));
  const auto share = static_cast<double>(unreadable_.size()) / static_cast<double>(of_.size());
  if (share <= policy_.max_share) return;
  cancelled_.store(true);
  refuse(sample.value, cause,
         fmt::format("{} of the {} samples cannot be read, and "
                     "load_into_memory_options::errors.max_share is {}; the last one",
                     unreadable_.size(), of_.size(), policy_.max_share),
         "repair the data, or raise max_share");
}

inline std::vector<std::uint64_t> lenient_reader::unreadable() const {
  std::vector<std::uint64_t> sorted = unreadable_;
  std::ranges::sort(sorted);
  return sorted;
}

inline failure_report lenient_reader::report() const {
  failure_report report{.count = unreadable_.size(), .recovered_reads = recovered_};
  for (const auto& [sample, failed] : first_) report.first.push_back(failed);
  return report;
}

inline void lenient_reader::require_substitute() const {
  if (substitute_cause_)
    refuse(policy_.substitute, substitute_cause_, "the substitute cannot be read either",
           "let load_into_memory_options::errors.substitute be a sample that can");
}

}  // namespace feedline::detail
