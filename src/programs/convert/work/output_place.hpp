#pragma once

#include "programs/convert/work/durable_file.hpp"
#include "programs/convert/work/job.hpp"
#include "programs/convert/work/work_folder.hpp"

#include <filesystem>
#include <optional>

namespace convert {

/// The output's path without slashes at its end.
/// @throws feedline::usage_error if it names no entry of a folder: "", ".", "..", "/".
[[nodiscard]] std::filesystem::path output_path(const std::filesystem::path& given);

/// Marks a finished output as made by this program: an extended attribute of each file and folder,
/// with its size and time of change, so that the mark ends when anybody else changes, adds or
/// removes anything. Copies have no mark, nor has anything on a file system without such
/// attributes.
/// @param path A file, or a folder of files.
/// @throws std::system_error if a mark cannot be written though the file system keeps some.
void mark_as_own(const std::filesystem::path& path);

/// Whether a file, or a folder with all that is in it, is marked and as it was then.
[[nodiscard]] bool is_marked_as_own(const std::filesystem::path& path);

/// Decides whether a job's output may be written.
/// @return What it would take the place of; nothing if nothing is there.
/// @throws feedline::usage_error if its folder is missing, or something is there that is not marked
/// as
///         written by this program, unless the job says `force`; and if that could not be replaced:
///         a device, a folder on which something is mounted.
[[nodiscard]] std::optional<file_identity> check_output(const job& job);

/// The system's `renameat2`: 0, or -1 and `errno`.
using rename_call = int (*)(const char* from, const char* to, unsigned flags);
int rename_by_kernel(const char* from, const char* to, unsigned flags);

/// Puts the finished output in its place by one rename, and removes what was there.
///
/// Where the file system can neither exchange names nor refuse to replace one, a look before the
/// rename must do, and a folder's name is free for a moment between two renames.
/// @param replaces What may be there: anything else is left, and so is the finished output.
/// @throws std::runtime_error, std::system_error.
void put_in_place(const work_folder& work, const std::filesystem::path& output,
                  const std::optional<file_identity>& replaces,
                  rename_call rename = rename_by_kernel);

}  // namespace convert
