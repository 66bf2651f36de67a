#pragma once

#include <feedline/error.hpp>
#include <feedline/formats/open.hpp>

#include <filesystem>
#include <vector>

namespace feedline::detail {

/// All datasets of an HDF5 file, if they belong together, or those that options name.
[[nodiscard]] dataset_ptr open_whole_hdf5(const std::filesystem::path& path,
                                          const open_options& options);

/// Tar shards, with the fields that the first one's first sample has.
[[nodiscard]] dataset_ptr open_whole_tar(const std::vector<std::filesystem::path>& shards,
                                         const open_options& options);

/// What is wrong with a file of no format that is known: what it looks like, or what it begins with.
[[nodiscard]] dataset_error unknown_format(const std::filesystem::path& path);

}  // namespace feedline::detail
