#pragma once

#include <string>
#include <vector>

namespace programs {

/// The files that a path, an address or a pattern of them names (`feedline::expand_paths`).
[[nodiscard]] std::vector<std::string> files_of(const std::string& pattern);

/// Whether it names something on another machine, "http://…" or "s3://…", and no file of this one.
[[nodiscard]] bool is_address(const std::string& path);

/// Whether there is a file or a folder under a path or an address.
/// @throws feedline::dataset_error if it cannot be told, such as for a server that is not reached;
/// it says why.
[[nodiscard]] bool is_there(const std::string& path);

/// Size and version of what an address names, for comparing with a later run. No secrets.
/// @throws feedline::dataset_error
[[nodiscard]] std::string version_of_address(const std::string& address);

}  // namespace programs
