#pragma once

#include <feedline/formats/open.hpp>
#include <feedline/formats/zarr.hpp>

#include <string>
#include <vector>

namespace feedline::detail {

/// Opens the arrays of a store as `open` does: those that options name or, if none are, the largest
/// one and all that have the same first dimension. The log names the others.
/// @throws dataset_error, usage_error like `open_zarr`.
[[nodiscard]] dataset_ptr open_whole_zarr(const std::string& path, const open_options& options);

/// All arrays of a store. @throws dataset_error if the store's metadata cannot be read.
[[nodiscard]] std::vector<listed_field> list_whole_zarr(const std::string& path,
                                                        const open_options& options);

}  // namespace feedline::detail
