#pragma once

#include <feedline/dataset/dataset.hpp>
#include <feedline/error_policy.hpp>
#include <feedline/export.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// Options for `load_into_memory`.
struct load_into_memory_options {
  std::size_t max_bytes = 0;  ///< limit of the samples' size, all together; 0: the machine's memory
  /// Reading threads, including the calling one. 0: one a core, at most 16; fewer threads read if
  /// fewer are needed. A single thread reads a dataset whose `concurrency()` is serialized.
  int threads = 0;
  /// Called on the calling thread from time to time with the number of samples read so far, and at
  /// last when all are read. An exception that it throws ends the reading and is passed on.
  std::function<void(std::uint64_t done, std::uint64_t samples)> progress = {};
  /// Policy for samples that cannot be read. `fail`: no dataset is made. `skip`: they are left out,
  /// the others keep their order, and those after them have smaller indices. `substitute`: the
  /// replacement's values are stored instead. `max_share` is a share of all samples.
  error_policy errors = {};
  /// Called once on the calling thread after the reading, if samples could not be read or retries
  /// helped. The report lists them by their index in the source dataset (`position` is the same,
  /// `epoch` is 0). A warning in the log names them too.
  std::function<void(const failure_report&)> failures = {};
};

/// Reads a whole dataset once, in parallel, and keeps it in memory. Reads of the result cost as
/// much as those of arrays. The result has `rows()`, so it supports the gather, resident and cached
/// placements. It no longer needs the source dataset. Blocks until everything is read.
///
///     auto train = feedline::load_into_memory(feedline::open_hdf5(…), {.max_bytes = 8ULL << 30});
///
/// If the storage is damaged in some locations:
///
///     auto rest = feedline::load_into_memory(
///         damaged, {.errors = {.action = feedline::error_action::skip}});
///
/// Each thread reads whole chunks in their order, directly to the samples' final memory. A dataset
/// that already has `rows()` is returned unchanged.
/// @throws usage_error if the samples vary by epoch or take more than `max_bytes`, before anything
/// is read; usage_error if memory is exhausted or `errors` has an invalid value; the exception of
/// the first unreadable sample, if `errors` says fail; a dataset_error if more than
/// `errors.max_share` of the samples cannot be read, or the replacement cannot. An exception other
/// than dataset_error is nested in a dataset_error that names the samples of the run, whatever
/// `errors` says. No dataset is made then.
[[nodiscard]] dataset_ptr load_into_memory(dataset_ptr of,
                                           const load_into_memory_options& options = {});

}  // namespace FEEDLINE_ABI
}  // namespace feedline
