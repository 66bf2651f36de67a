#pragma once

#include <feedline/export.hpp>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// Limits how many reader threads of this process work at a time, over all loaders together. The
/// remaining cores stay free for threads that launch kernels. Like `map_files`, the limit applies
/// to the whole process; no loader has one of its own. Readers whose slots are empty work first, so
/// a loader that needs more gets more.
///
/// A reader that waits for storage counts as working, so do not set a limit if reads wait long. The
/// limit applies to work that begins after the call. While there is a limit, a dataset must not
/// take batches from another loader within `read`. That is refused, because both might wait
/// forever. Any thread may call it; never blocks.
/// @param readers 0: no limit. Until the first call the environment variable `FEEDLINE_CPU_BUDGET`
/// sets the limit.
void set_cpu_budget(unsigned readers);

/// The current limit; 0: none.
/// @throws usage_error if the environment variable sets the limit and is not a whole number.
[[nodiscard]] unsigned cpu_budget();

}  // namespace FEEDLINE_ABI
}  // namespace feedline
