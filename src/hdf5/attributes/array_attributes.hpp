#pragma once

#include <feedline/arrays/array_source.hpp>

#include "hdf5/library/handle.hpp"
#include "hdf5/library/session.hpp"

namespace feedline::detail {

/// Attributes by which numbers are packed, or stand for missing values. Those that are no numbers
/// are ignored.
[[nodiscard]] value_packing packing_attributes(const hdf5_session& hdf5, hid_t dataset);

}  // namespace feedline::detail
