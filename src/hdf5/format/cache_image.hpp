#pragma once

#include "hdf5/format/metadata.hpp"

namespace feedline::detail {

/// Whether the writer left what it had in its cache in one block, and the places where it belongs as they
/// were. (H5Pset_mdc_image_config) The superblock's extension says so, an object header of version 1 or 2.
/// Checksums are left to the HDF5 library, which compares them when it opens the file.
/// @throws hdf5_metadata_error if the extension cannot be followed.
[[nodiscard]] bool has_cache_image(hdf5_metadata& metadata);

/// @throws hdf5_metadata_error also if it did.
void require_no_cache_image(hdf5_metadata& metadata);

}  // namespace feedline::detail
