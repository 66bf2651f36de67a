#pragma once

#include <feedline/arrays/array_source.hpp>
#include <feedline/arrays/csr.hpp>
#include <feedline/dataset/dataset.hpp>
#include <feedline/export.hpp>
#include <feedline/hdf5/dataset.hpp>

#include <string>
#include <vector>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// Opens datasets of one HDF5 or NetCDF4 file as arrays of N dimensions, for `make_windows`.
///
/// Dimensions have the names of their dimension scales, as NetCDF, h5py and xarray write them, or
/// their labels. A warning says if a scale does not exist or has another extent, so that a name is
/// missing. `array_spec::packing` has the attributes scale_factor, add_offset, _FillValue,
/// missing_value and _Unsigned, which `unpack` applies. MATLAB's arrays have MATLAB's last
/// dimension first, and axis -1 is MATLAB's first one.
///
/// Any number of threads read boxes at once, without the HDF5 library and its lock, in the cases in
/// which `open_hdf5` reads rows so: contiguous arrays directly from the file; chunks are decoded
/// whole, once for all boxes of a read, and cached. All arrays of a call share
/// `options.max_host_cache_bytes`, in proportion to their sizes; 0: a quarter of the machine's
/// memory. Open arrays that are used together by one call. Other arrays are read through the
/// library, one thread at a time; a warning gives the reason.
/// @param datasets Paths in the file, or of members of records, as in `hdf5_field::dataset`.
/// @param options `max_resident_bytes` and `conventions` are not used.
/// @throws hdf5_error as `open_hdf5`.
[[nodiscard]] std::vector<array_ptr> open_hdf5_arrays(const std::string& file,
                                                      const std::vector<std::string>& datasets,
                                                      const hdf5_options& options = {});
/// The same for one dataset.
[[nodiscard]] array_ptr open_hdf5_array(const std::string& file, const std::string& dataset,
                                        const hdf5_options& options = {});

/// Opens a sparse matrix that is stored by rows in a group, as AnnData does ("X", "layers/counts",
/// "raw/X"): its datasets data, indices and indptr, and its attribute shape. Samples are dense
/// rows: see `make_csr_dataset`. The field has the last part of the group's path as its name.
/// @throws hdf5_error if a dataset or the shape is absent, or the group says that it is stored by
/// columns (encoding-type csc_matrix).
[[nodiscard]] dataset_ptr open_hdf5_csr(const std::string& file, const std::string& group,
                                        const hdf5_options& options = {});

}  // namespace FEEDLINE_ABI
}  // namespace feedline
