#pragma once

#include <feedline/hdf5/dataset.hpp>

#include "hdf5/library/handle.hpp"
#include "hdf5/library/session.hpp"

#include <span>
#include <string>

namespace feedline::detail {

/// @throws usage_error if an enumeration has none of its values.
void require_known(const hdf5_options& options);

/// Why what a dataset stores is not what its writer means: attributes say that numbers are packed
/// (NetCDF's scale_factor, add_offset), or that dimensions lie the other way round (MATLAB 7.3).
/// Empty if neither matters.
[[nodiscard]] std::string convention_of(const hdf5_session& hdf5, hid_t dataset,
                                        std::span<const hsize_t> extents);

}  // namespace feedline::detail
