#pragma once

#include <feedline/export.hpp>

#include <cstddef>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// Limits for a loader that searches for the number of readers and staging slots with which its
/// consumer waits least (`expert_options::tuning`). A member that is 0 is not tuned.
///
/// The loader is created with all threads and all staging memory of the budget. It starts with the
/// numbers that it would use without tuning, or those given by `readers` and `staging_slots`, and
/// tries others while it works. Order and bytes of batches stay the same. Nothing is tuned if there
/// are no readers.
struct tuning_budget {
  /// Reader threads; 0: the same number as without tuning. A dataset that is read by one thread at
  /// a time always has one reader.
  int max_readers = 0;
  /// Staging memory; 0: the same ring as without tuning.
  std::size_t max_pinned_bytes = 0;
};

}  // namespace FEEDLINE_ABI
}  // namespace feedline
