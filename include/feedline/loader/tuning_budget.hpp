#pragma once

#include <feedline/export.hpp>

#include <cstddef>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// Limits for a loader that searches for the number of readers and staging slots with which its
/// consumer waits least (`expert_options::tuning`).
///
/// The loader is created with all threads and all staging memory of the budget. It starts with
/// `readers` and `staging_slots`, and tries other numbers while it works and its consumer waits.
/// Order and bytes of batches stay the same. Nothing is tuned if there are no readers.
struct tuning_budget {
  /// Reader threads. 0: with `automatic_readers`, twice as many as at first, and no more than the
  /// process has cores; with a number in `readers`, that number, which is not tuned. A dataset that
  /// is read by one thread at a time has one reader.
  int max_readers = 0;
  /// Staging memory. 0: the ring has its usual number of slots, which is not tuned.
  std::size_t max_pinned_bytes = 0;
};

}  // namespace FEEDLINE_ABI
}  // namespace feedline
