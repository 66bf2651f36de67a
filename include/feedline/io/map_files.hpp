#pragma once

#include <feedline/export.hpp>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// Sets whether files opened from now on may be mapped into memory; true at first.
///
/// feedline maps a file if that is faster: if the file is in memory, on a local file system. If
/// another program truncates a mapped file, the system sends SIGBUS. So the first file that is
/// mapped installs a handler of SIGBUS for the whole process. The handler turns such a fault into
/// an error of the read, and passes every other SIGBUS to the previous handler.
///
///     feedline::map_files(false);  // at the program's start: no handler of SIGBUS is installed
///
/// With false, files are read by `pread`, which is slower for small rows. Files that are already
/// open stay as they are, and so does an installed handler.
///
/// Like the budget of `set_cpu_budget`, the setting applies to the whole process. Threads: any. If
/// several plugins each contain a static feedline, each has its own setting.
void map_files(bool allowed) noexcept;

/// The last setting of `map_files`.
[[nodiscard]] bool may_map_files() noexcept;

}  // namespace FEEDLINE_ABI
}  // namespace feedline
