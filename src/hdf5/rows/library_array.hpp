#pragma once

#include <feedline/arrays/array_source.hpp>

#include "hdf5/rows/plain_rows.hpp"

namespace feedline::detail {

/// An array that the HDF5 library reads, one thread at a time.
/// @param spec Its first dimensions are the dataset's, the others those of its element type.
[[nodiscard]] array_ptr make_library_array(array_spec spec, hdf5_library_column column);

}  // namespace feedline::detail
