#pragma once

#include <feedline/export.hpp>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// Whether files that are opened from now on may be mapped into memory; true at first.
///
/// feedline maps a file where that is faster: where the file lies in memory, on a local file
/// system. If another program cuts a mapped file short, the system sends SIGBUS. So the first file
/// that is mapped installs a handler of SIGBUS for the whole process. It makes such a fault an
/// error of the read, and passes every other SIGBUS to the handler that was there before.
///
///     feedline::map_files(false);  // at the program's start: no handler of SIGBUS is installed
///
/// With false, files are read by `pread`, which is slower for small rows. Files that are open
/// already stay as they are, and so does a handler that is installed.
///
/// The setting is the whole process's, as the budget of `set_cpu_budget` is. Threads: any. Where
/// several plugins each contain a static feedline, each has a setting of its own.
void map_files(bool allowed) noexcept;

/// What `map_files` said last.
[[nodiscard]] bool may_map_files() noexcept;

}  // namespace FEEDLINE_ABI
}  // namespace feedline
