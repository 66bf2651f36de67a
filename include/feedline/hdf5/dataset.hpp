#pragma once

#include <feedline/arrays/array_source.hpp>
#include <feedline/dataset/dataset.hpp>
#include <feedline/export.hpp>
#include <feedline/io/external_files.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// An HDF5 dataset chosen as a field, or a member of a dataset of records (h5py's structured
/// arrays, tables of PyTables and pandas).
struct hdf5_field {
  /// Path within the file: "train/images". A member's path treats the dataset as a group:
  /// "events/energy", and for a record within the record "events/position/x".
  std::string dataset;
  std::string name = {};  ///< name of the field; empty: the last part of the path
};

/// Entry of `list_hdf5_fields`: a dataset, or a member of its records, that can be a field. It may
/// also be an object that cannot be read. Then only `dataset` and `refusal` are set. If
/// `hdf5_options::conventions` is the reason, `samples`, `spec`, `dimensions` and `packing` are
/// set, too.
struct hdf5_listing {
  /// Absolute path within the file; for a member as in `hdf5_field`.
  std::string dataset;
  std::uint64_t samples = 0;  ///< first dimension
  feedline::field spec = {};  ///< name, type and shape of the field
  /// Method of reading: "contiguous", "chunks of 16 samples, deflate", …, or "through the HDF5
  /// library: " and the reason.
  std::string access = {};
  /// Part of the path that names a member of records; else empty.
  std::string member = {};
  /// Reason why it cannot be read: damaged, written by a newer HDF5, an external link without a
  /// target. For a group, the reason why it cannot be searched. Empty: it can be read.
  std::string refusal = {};
  /// Whether values are of variable length and `spec` is one element. Open such a field with
  /// `open_hdf5_ragged`.
  bool is_ragged = false;
  /// Reason why `open` leaves it out unless its name is given: it is a single value (one sample),
  /// has no samples, or has references; or it stands for a dimension of NetCDF-4 and has no values,
  /// so that it cannot be opened. Empty: `open` takes it.
  std::string aside = {};
  /// Decoders of its chunks: "readers or devices", or "readers alone: " and the reason. Empty:
  /// there is nothing to decode.
  std::string decoding = {};
  /// Names of the dataset's dimensions, as in `array_spec::dimensions`; empty for members.
  std::vector<std::string> dimensions = {};
  /// Attributes that give its stored numbers another meaning. They are set even if the dataset is
  /// refused because of them.
  value_packing packing = {};
};

/// A dataset that cannot be a field, and whose members cannot be fields either.
struct hdf5_left_out {
  std::string dataset;  ///< absolute path within the file
  std::string reason;   ///< samples without values, a type without an element_type, …
};

/// Treatment of datasets whose attributes give the stored values another meaning.
enum class value_conventions : std::uint8_t {
  /// Refused, quoting the attributes. This concerns packed numbers (NetCDF's scale_factor and
  /// add_offset, unless they are 1 and 0), and arrays of several dimensions written by MATLAB
  /// (MATLAB_class): their dimensions are reversed, so samples would be taken along MATLAB's last
  /// one.
  refuse,
  ignore,  ///< read as stored
};

/// Options for reading HDF5 files: limits of memory, and access to other files.
struct hdf5_options {
  /// Limit of the memory that caches decoded chunks, for all fields together. It includes
  /// chunks that are being decoded, and the bookkeeping for each chunk. A reader that finds no
  /// memory waits for other readers. At least four chunks of a field are cached, even if they
  /// exceed the limit. 0: a quarter of the machine's memory.
  std::size_t max_host_cache_bytes = 0;
  /// Fields are read whole when they are opened, the smallest first, while their total size is at
  /// most this.
  std::size_t max_resident_bytes = std::size_t{64} << 20;
  /// Other files that may be read for the HDF5 file: raw data of the external layout, targets of
  /// external links, sources of virtual datasets.
  external_files external = external_files::same_folder;
  /// Treatment of attributes that give stored values another meaning.
  value_conventions conventions = value_conventions::refuse;
};

/// Lists every dataset in an HDF5 file that can be a field, in order of path. Links to datasets are
/// included, and so is each member of a dataset of records that can be a field, in the records'
/// order. The list also has values of variable length, such as strings (for `open_hdf5_ragged`),
/// single values, and datasets without samples. Other datasets that cannot be fields are left out.
/// Objects that the library cannot open are listed with the reason. Groups reached through links,
/// soft or external, are not searched.
/// @param options Only `external` and `conventions` are used, not the memory limits.
/// @param left_out Receives the datasets that cannot be fields, with reasons; may be null.
/// @throws hdf5_error if the file cannot be opened.
[[nodiscard]] std::vector<hdf5_listing> list_hdf5_fields(
    const std::string& file, const hdf5_options& options = {},
    std::vector<hdf5_left_out>* left_out = nullptr);

/// Opens datasets of one HDF5 file whose first dimensions are equal. A sample has one row of each.
///
/// Any number of threads read rows at once, without the HDF5 library and its lock, if layout,
/// filters and type allow it: contiguous and chunked layouts, the filters deflate, shuffle,
/// fletcher32, scale-offset and LZF, and szip, LZ4, Zstandard, Blosc 1 and 2, bitshuffle, ZFP,
/// bzip2 and LZO if feedline was built with their libraries. Numbers are converted to the machine's
/// byte order. Chunks are decoded whole, and cached while memory allows. If several members of a
/// record are fields, a chunk is decoded once for all of them. With the order of `shuffle{.within =
/// …}` each chunk is decoded once in an epoch. All other datasets are read through the library, one
/// thread at a time; a warning gives the reason, and so does `hdf5_listing::access`. If all fields
/// were read whole, the dataset's `rows()` returns them. Otherwise its `encoded()` returns the
/// chunks as they are stored, if each row is within one chunk.
///
/// Values of variable length are opened by `open_hdf5_ragged`. Records of two equal floating-point
/// numbers are complex numbers: one field, whose elements are pairs.
///
/// Times are read as the signed integers in the file: i32 and i64. This concerns HDF5's class
/// H5T_TIME, for which HDF5 defines no meaning, and PyTables' Time32 and Time64. PyTables stores
/// seconds in the upper half of an i64 `v`, and microseconds in the lower half. So the time is
/// `double(v >> 32) + 1e-6 * std::int32_t(v)`.
///
/// Dates and durations of NumPy, as h5py stores them (opaque values whose tag begins with
/// "NUMPY:"), are counts in i64. References to objects are u64: addresses in the file, which are
/// equal if the objects are the same. A dataset without dimensions has one sample. If the first
/// dimension is 0, so is `size()`.
///
/// The file may be mapped (`map_files`). It must not change while it is open: a read that finds it
/// shorter, overwritten or replaced throws. The program may use the HDF5 library itself meanwhile
/// if the library was built thread-safe, as in Debian and Ubuntu.
/// @param fields At least one.
/// @throws hdf5_error naming file and dataset: not HDF5, cut short, no such dataset or member (with
/// the existing ones), records as a whole, different first dimensions, samples without values,
/// types without an element_type, a missing filter, raw file or virtual source, a damaged index of
/// chunks, metadata in a cache image, samples larger than the machine's memory.
/// @throws usage_error if there is no field, or two have the same name.
[[nodiscard]] dataset_ptr open_hdf5(const std::string& file, std::vector<hdf5_field> fields,
                                    const hdf5_options& options = {});

}  // namespace FEEDLINE_ABI
}  // namespace feedline
