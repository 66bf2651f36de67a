#pragma once

#include <feedline/formats/open.hpp>

#include <string>
#include <vector>

namespace feedline::detail {

/// All datasets of an HDF5 file, if they belong together, or those that options name.
[[nodiscard]] dataset_ptr open_whole_hdf5(const std::string& path, const open_options& options);

/// All that an HDF5 file holds, values of variable length included.
[[nodiscard]] std::vector<listed_field> list_whole_hdf5(const std::string& path,
                                                        const open_options& options);

}  // namespace feedline::detail
