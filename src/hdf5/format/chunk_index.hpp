#pragma once

#include "hdf5/format/chunk_layout.hpp"
#include "hdf5/format/chunk_map.hpp"
#include "hdf5/format/metadata.hpp"

#include <cstdint>

namespace feedline::detail {

/// Fills a map from the index that a layout names, of any kind.
/// @param map Of the layout's extents; no chunk is set in it.
/// @throws hdf5_metadata_error if the index cannot be followed; the map holds a part of it then.
void read_hdf5_chunk_index(hdf5_metadata& metadata, const hdf5_chunk_layout& layout,
                           hdf5_chunk_map& map);

// One function for each kind that needs more than a few lines. All are called where an index is.

/// (HDF5 File Format Specification 3.0, III.A.1, node type 1)
void read_hdf5_btree1(hdf5_metadata& metadata, const hdf5_chunk_layout& layout,
                      hdf5_chunk_map& map);
/// (III.A.2, record types 10 and 11)
void read_hdf5_btree2(hdf5_metadata& metadata, const hdf5_chunk_layout& layout,
                      hdf5_chunk_map& map);
/// (VII.C)
void read_hdf5_fixed_array(hdf5_metadata& metadata, const hdf5_chunk_layout& layout,
                           hdf5_chunk_map& map);
/// (VII.D)
void read_hdf5_extensible_array(hdf5_metadata& metadata, const hdf5_chunk_layout& layout,
                                hdf5_chunk_map& map);

}  // namespace feedline::detail
