#pragma once

#include "image/sets/image_files.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace feedline::detail {

/// Files by their paths, in order.
[[nodiscard]] image_files files_at(const std::vector<std::string>& paths);

/// Index of the first path that is no file; each folder is listed once. Where folders cannot be
/// listed, as on web servers, only the first file of each is asked for.
[[nodiscard]] std::optional<std::size_t> first_missing(const std::vector<std::string>& paths);

/// A path in a list: itself if it is absolute or an address ("store://x"), else below the folder.
[[nodiscard]] std::string path_below(const std::string& folder, const std::string& path);

/// The folder that a file is in. @param path May be an address.
[[nodiscard]] std::string folder_of(const std::string& path);

/// The whole content of a text file, without a byte order mark. @throws dataset_error naming it.
[[nodiscard]] std::string text_of_file(const std::string& path);

}  // namespace feedline::detail
