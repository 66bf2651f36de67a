#pragma once

#include "programs/doctor/findings.hpp"

#include <string>
#include <vector>

namespace doctor {

/// How the storage is to be examined.
struct storage_limits {
  seconds time{1};
  bool keep_cache = false;  ///< nothing is dropped from the page cache
};

/// Reads blocks of 1 MiB at random places, by one thread and by eight, then those of the one again:
/// at most 256 MiB in all, which it drops from the page cache before (nothing else is). Blocks for
/// about the time. Pages that are mapped cannot be dropped, so it comes before files are opened.
/// @param paths Files and folders.
[[nodiscard]] storage_facts examine_storage(const std::vector<std::string>& paths,
                                            const storage_limits& limits);

}  // namespace doctor
