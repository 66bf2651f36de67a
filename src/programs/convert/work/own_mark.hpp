#pragma once

#include <filesystem>

namespace convert {

/// Marks a finished output as made by this program: an extended attribute of each file and folder, with
/// its size and time of change, so that the mark ends when anybody else changes, adds or removes
/// anything. Copies have no mark, nor has anything on a file system without such attributes.
/// @param path A file, or a folder of files.
/// @throws std::system_error if a mark cannot be written though the file system keeps some.
void mark_as_own(const std::filesystem::path& path);

/// Whether a file, or a folder with all that is in it, is marked and as it was then.
[[nodiscard]] bool is_marked_as_own(const std::filesystem::path& path);

}  // namespace convert
