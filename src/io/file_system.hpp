#pragma once

namespace feedline::detail {

/// Whether an open file lies on a file system of this machine: its pages stay valid once read, and
/// its inode numbers name files. False for networks, for file systems run by a program (FUSE), and
/// for any that is not known.
[[nodiscard]] bool is_on_local_file_system(int descriptor) noexcept;

}  // namespace feedline::detail
