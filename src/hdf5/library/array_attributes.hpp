#pragma once

#include <feedline/arrays/array_source.hpp>

#include "hdf5/library/handle.hpp"
#include "hdf5/library/session.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace feedline::detail {

/// Names of a dataset's dimensions: those of their dimension scales, as NetCDF and h5py write them,
/// else their labels. A scale of one dimension has its own name. "" for a dimension without one,
/// and for those that share a name.
[[nodiscard]] std::vector<std::string> dimension_names(const hdf5_session& hdf5, hid_t dataset,
                                                       std::size_t rank);

/// Attributes by which numbers are packed, or stand for missing values. Those that are no numbers
/// are ignored.
[[nodiscard]] value_packing packing_attributes(const hdf5_session& hdf5, hid_t dataset);

/// Integers of an attribute; empty if there is none of integers.
[[nodiscard]] std::vector<std::uint64_t> attribute_integers(const hdf5_session& hdf5, hid_t object,
                                                            const char* attribute);
/// Text of an attribute; empty if there is none.
[[nodiscard]] std::string attribute_text(const hdf5_session& hdf5, hid_t object,
                                         const char* attribute);

}  // namespace feedline::detail
