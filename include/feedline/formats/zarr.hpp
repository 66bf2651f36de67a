#pragma once

#include <feedline/arrays/array_source.hpp>
#include <feedline/dataset/dataset.hpp>
#include <feedline/export.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// An array of a Zarr store, chosen as a field.
struct zarr_field {
  std::string array;      ///< path within the store: "train/images"; empty: the store is an array
  std::string name = {};  ///< name of the field; empty: the last part of the path
};

/// Options for reading Zarr stores: limits of memory.
struct zarr_options {
  /// Limit of memory for decoded chunks, all fields together, like
  /// `hdf5_options::max_host_cache_bytes`. 0: a quarter of the machine's memory.
  std::size_t max_host_cache_bytes = 0;
  /// Fields are read whole at opening, the smallest first, as long as their total size is at most
  /// this.
  std::size_t max_resident_bytes = std::size_t{64} << 20;
};

/// Opens arrays of a Zarr store, version 2 or 3, that have the same first dimension: a sample has
/// one row of each. A store is a folder, here or at a remote address, or a zip archive whose
/// members are uncompressed. Target `feedline::formats`. Needs a feedline that was built with
/// nlohmann-json, and with libzip for archives.
///
///     auto train = feedline::open_zarr("era5.zarr", {{"t2m"}, {"tp"}});
///
/// Types: booleans, integers, f16, bf16, f32, f64; complex numbers are fields whose elements are
/// pairs; dates are counts in i64. Numbers are converted to the machine's byte order. Arrays may be
/// in C or Fortran order or transposed, with separators "." and "/", in shards with the index at
/// either end. Chunks that were never written have the fill value, 0 if there is none.
///
/// Codecs: zstd, Blosc 1, LZ4, zlib, gzip, bz2, shuffle, delta, fixedscaleoffset (as NumPy 2
/// computes it), crc32c and fletcher32, if feedline was built with their libraries. Checksums are
/// compared.
///
/// Rows are the stored numbers. If attributes say that they are packed (scale_factor, add_offset,
/// _Unsigned), a warning names them: `open_zarr_array`, `unpack` and `make_windows` unpack them.
///
/// Any number of threads read rows at once. Chunks are decoded whole and cached while memory
/// allows: `shuffle{.within = …}` uses an order that decodes each chunk once. `encoded()` returns
/// chunks as stored, for devices that decode them, if they hold whole rows in C order and the
/// machine's byte order, and the store can list them.
///
/// The objects of the store must not change while it is open: a read throws if one is deleted or
/// has another size than before.
/// @param fields At least one.
/// @throws dataset_error naming store and array: no such array (with the existing ones), a single
/// value, no samples, different first dimensions, metadata that are damaged or that feedline does
/// not know, codecs without their library, more chunks than the stored bytes can be, indexes of
/// shards that are damaged, samples larger than the machine's memory.
/// @throws usage_error if there is no field, or two have the same name.
[[nodiscard]] dataset_ptr open_zarr(const std::string& store, std::vector<zarr_field> fields,
                                    const zarr_options& options = {});

/// Opens arrays of one Zarr store as arrays of N dimensions, for `make_windows`. Dimensions have
/// the names that the store gives them. Complex numbers have one dimension more, of two parts.
/// `array_spec::packing` has the attributes scale_factor, add_offset, missing_value, _FillValue and
/// _Unsigned, which `unpack` applies as xarray does. As for xarray, the fill value of an array of
/// version 2 stands for missing values, and so does 0 if that is the fill value. Chunks are decoded
/// whole, once for all boxes of a read, and cached. All arrays of a call share
/// `options.max_host_cache_bytes`, in proportion to their sizes: open arrays that are used
/// together by one call.
/// @param arrays Paths within the store; "": the store is an array.
/// @param options `max_resident_bytes` is not used.
/// @throws dataset_error as `open_zarr`, and if the two parts of a complex fill value differ.
[[nodiscard]] std::vector<array_ptr> open_zarr_arrays(const std::string& store,
                                                      const std::vector<std::string>& arrays,
                                                      const zarr_options& options = {});
/// The same for one array.
[[nodiscard]] array_ptr open_zarr_array(const std::string& store, const std::string& array,
                                        const zarr_options& options = {});

}  // namespace FEEDLINE_ABI
}  // namespace feedline
