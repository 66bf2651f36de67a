#pragma once

#include <feedline/dataset/dataset.hpp>
#include <feedline/error_policy.hpp>
#include <feedline/export.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// How `load_into_memory` is to go about it.
struct load_into_memory_options {
  std::size_t max_bytes = 0;  ///< of the samples, all together; 0: the machine's memory
  int threads = 0;  ///< that read, the calling one too; 0: one a core, at most 16; fewer at need.
                    ///< One reads a dataset whose `concurrency()` is serialized
  /// Told now and then how many of the samples are read, at last that all are; on the calling
  /// thread. What it throws ends the reading and comes through.
  std::function<void(std::uint64_t done, std::uint64_t samples)> progress = {};
  /// What becomes of samples that cannot be read. `fail`: nothing is held. `skip`: they are left
  /// out, the others keep their order, and those after them have smaller indices. `substitute`: the
  /// substitute's values are held in their places. `max_share` counts among all samples.
  error_policy errors = {};
  /// Told once, after the reading, on the calling thread, if samples could not be read or retries
  /// helped. The report lists them by their index in the dataset that was read (`position` is the
  /// same, `epoch` 0). A warning in the log tells of them too.
  std::function<void(const failure_report&)> failures = {};
};

/// Reads a dataset whole, once, in parallel, and holds it: reads of what is returned cost what
/// arrays do, it has `rows()`, so it serves the gather, resident and cached placements, and it no
/// longer needs the other one. Blocks until all is read.
///
///     auto train = feedline::load_into_memory(feedline::open_hdf5(…), {.max_bytes = 8ULL << 30});
///
/// Storage that is damaged in places:
///
///     auto rest = feedline::load_into_memory(
///         damaged, {.errors = {.action = feedline::error_action::skip}});
///
/// Each thread reads whole chunks, in their order, straight to where the samples will lie. A
/// dataset that has `rows()` already is returned as it is.
/// @throws usage_error if the samples vary by epoch or take more than `max_bytes`, before anything
///         is read, or memory cannot be had, or `errors` has a value that cannot be; what the first
///         sample that cannot be read throws, if `errors` says fail; a dataset_error if more than
///         `errors.max_share` cannot be read, or the substitute cannot. An exception that is no
///         dataset_error is nested in one that names the samples of the run, whatever `errors`
///         says. Nothing is held then.
[[nodiscard]] dataset_ptr load_into_memory(dataset_ptr of,
                                           const load_into_memory_options& options = {});

}  // namespace FEEDLINE_ABI
}  // namespace feedline
