#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace feedline::detail {

/// Whether the name of a virtual dataset's source is a pattern: "%b" is a number. ("%%" is '%'.)
[[nodiscard]] bool is_numbered(std::string_view name);

/// The name with a number instead of each "%b".
[[nodiscard]] std::string numbered_name(std::string_view name, std::uint64_t number);

/// A folder from one of the HDF5 library's environment variables.
/// @param own Folder of the file, which replaces "${ORIGIN}".
[[nodiscard]] std::filesystem::path prefix_folder(std::string_view prefix,
                                                  const std::filesystem::path& own);

/// Paths at which the HDF5 library looks for a source of a virtual dataset that is in `own_file`,
/// in its order. (H5F_prefix_open_file of the library)
[[nodiscard]] std::vector<std::filesystem::path> places_of_source(
    const std::filesystem::path& own_file, const std::filesystem::path& source);

}  // namespace feedline::detail
