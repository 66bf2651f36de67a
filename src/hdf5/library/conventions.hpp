#pragma once

#include <feedline/hdf5/dataset.hpp>

#include "hdf5/library/handle.hpp"
#include "hdf5/library/session.hpp"

#include <span>
#include <string>

namespace feedline::detail {

/// @throws usage_error if an option is not a value of its enumeration.
void require_known(const hdf5_options& options);

/// The reason why a dataset's stored values differ from what its writer means: attributes say that
/// numbers are packed (NetCDF's scale_factor, add_offset), or that dimensions are reversed (MATLAB
/// 7.3). Empty if there is none.
[[nodiscard]] std::string convention_of(const hdf5_session& hdf5, hid_t dataset,
                                        std::span<const hsize_t> extents);

}  // namespace feedline::detail
