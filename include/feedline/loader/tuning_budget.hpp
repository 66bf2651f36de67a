#pragma once

#include <feedline/export.hpp>

#include <cstddef>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// What a loader may use to find out by itself how many readers and staging slots end its
/// consumer's waiting (`expert_options::tuning`). What is 0 is not tuned; all 0: nothing is.
///
/// The loader is made with all threads and all staging memory of the budget. It begins with what it
/// would have without tuning, or with what `readers` and `staging_slots` say, and tries others
/// while it works. Order and bytes of batches stay the same. Nothing is tuned where no readers
/// read.
struct tuning_budget {
  int max_readers = 0;  ///< reader threads; 0: as many as without tuning. A dataset that is read by
                        ///< one thread at a time gets no more than that
  std::size_t max_pinned_bytes = 0;  ///< staging memory; 0: the ring that there is without tuning
};

}  // namespace FEEDLINE_ABI
}  // namespace feedline
