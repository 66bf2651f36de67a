#pragma once

#include "programs/doctor/findings.hpp"

#include <string>
#include <vector>

namespace doctor {

/// Reads blocks of 1 MiB at random places, past the page cache: by one thread, then others by
/// eight, 256 MiB at most. What is in the page cache stays as it is. Blocks for about the time.
/// @param paths Files and folders.
[[nodiscard]] storage_facts examine_storage(const std::vector<std::string>& paths, seconds time);

}  // namespace doctor
