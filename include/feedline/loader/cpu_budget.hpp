#pragma once

#include <feedline/export.hpp>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// Limits how many reader threads of this process work at a time, over all loaders together: cores
/// that are left to the threads that launch kernels. The limit is the whole process's, as
/// `map_files` is; no loader has one of its own. Which loader's readers work follows from whose
/// slots are empty, so a loader that needs more gets more.
///
/// A reader that waits for storage counts as one that works: where reads wait long, leave it off.
/// It holds for work that begins after the call. A dataset must not take batches from another
/// loader within `read` while there is a budget: that is refused, for both might wait for ever.
/// Any thread; never blocks.
/// @param readers 0: no limit. Until the first call it is the environment's `FEEDLINE_CPU_BUDGET`.
void set_cpu_budget(unsigned readers);

/// The limit that holds now; 0: none.
/// @throws usage_error if it is the environment's, and that is no whole number.
[[nodiscard]] unsigned cpu_budget();

}  // namespace FEEDLINE_ABI
}  // namespace feedline
