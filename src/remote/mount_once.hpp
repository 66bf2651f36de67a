#pragma once

namespace feedline::detail {

/// Mounts remote files with the default options, unless the program has mounted them.
void mount_remote_files_once();

}  // namespace feedline::detail
