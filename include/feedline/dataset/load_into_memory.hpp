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
  std::size_t max_bytes = 0;  ///< limit of the size of all samples; 0: the machine's memory
  /// Reading threads, including the calling one. 0: one a core, at most 16; fewer threads read if
  /// fewer are needed. A single thread reads a dataset whose `concurrency()` is serialized.
  int threads = 0;
  /// Called on the calling thread from time to time with the number of samples read so far, the
  /// last time when all are read. If it throws, reading stops and `load_into_memory` throws the
  /// same.
  std::function<void(std::uint64_t done, std::uint64_t samples)> progress = {};
  /// Policy for samples that cannot be read. `fail`: throw. `skip`: leave them out; samples after
  /// them get smaller indices. `substitute`: store the values of the replacement sample instead.
  /// `max_share` is a share of all samples.
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
/// If some of the data is damaged:
///
///     auto rest = feedline::load_into_memory(
///         damaged, {.errors = {.action = feedline::error_action::skip}});
///
/// Each thread reads whole chunks in their order, directly to the samples' final memory. A
/// dataset that already has `rows()` is returned unchanged.
/// @throws usage_error, before anything is read, if the dataset is null, the samples vary by epoch
/// or take more than `max_bytes`, memory is exhausted, or an option has an invalid value; the
/// exception of the first unreadable sample, with `fail`; dataset_error if more than
/// `errors.max_share` of the samples, or the replacement sample, cannot be read. If reading throws
/// an exception that is not a dataset_error, `errors` does not apply: the exception is thrown
/// nested in a dataset_error that names the samples of the failed call.
[[nodiscard]] dataset_ptr load_into_memory(dataset_ptr of,
                                           const load_into_memory_options& options = {});

}  // namespace FEEDLINE_ABI
}  // namespace feedline
