#pragma once

#include <feedline/dataset/dataset.hpp>
#include <feedline/export.hpp>
#include <feedline/io/external_files.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// An HDF5 dataset chosen as a field, or a member of one of records (h5py's structured arrays,
/// tables of PyTables and pandas).
struct hdf5_field {
  /// Path within the file: "train/images". A member is named as if the dataset were a group:
  /// "events/energy", and in a record within the record "events/position/x".
  std::string dataset;
  std::string name = {};  ///< of the field; empty: the last part of the path
};

/// What `list_hdf5_fields` found: a dataset of a file, or a member of its records, that could be a
/// field; or what cannot be read, of which only `dataset` and `refusal` say something.
struct hdf5_listing {
  std::string dataset;        ///< absolute path within the file, a member's as `hdf5_field` has it
  std::uint64_t samples = 0;  ///< its first dimension
  feedline::field spec = {};  ///< name, type and shape as the field would have
  std::string access =
      {};  ///< how it is read: "contiguous", "chunks of 16 samples, deflate", …, or
           ///< "through the HDF5 library: " and why
  std::string member = {};  ///< the part of the path that names a member of records; else empty
  /// Why it cannot be read: damaged, written by a newer HDF5, an external link to nothing; of a
  /// group, why it cannot be searched. Empty: it is not so.
  std::string refusal = {};
  /// Values are of variable length, and `spec` is one element: a field for `open_hdf5_ragged`.
  bool is_ragged = false;
};

/// A dataset of a file that can be no field, nor can members of its records.
struct hdf5_left_out {
  std::string dataset;  ///< absolute path within the file
  std::string reason;   ///< a single value, a type without an element_type, …
};

/// What to do with a dataset whose attributes say that its values are other than what is stored.
enum class value_conventions : std::uint8_t {
  /// It is refused, with what its attributes say: packed numbers (NetCDF's scale_factor and
  /// add_offset, unless these are 1 and 0); several dimensions written by MATLAB (MATLAB_class),
  /// which lie the other way round, so that samples would be taken along MATLAB's last one.
  refuse,
  ignore,  ///< it is read as it is stored
};

/// How HDF5 files are read: what they may take of memory, and which other files they may name.
struct hdf5_options {
  /// For decoded chunks, all fields together, as they are needed; chunks that are being decoded,
  /// and what is noted of each, count. Readers that find no room wait for one another. At least
  /// four chunks of a field are kept whatever this says. 0: a quarter of the machine's memory.
  std::size_t max_host_cache_bytes = 0;
  /// Fields are read whole at opening, the smallest first, while together they take no more than
  /// this.
  std::size_t max_resident_bytes = std::size_t{64} << 20;
  /// Which other files may be read for the HDF5 file: raw data of the external layout, targets of
  /// external links, sources of virtual datasets.
  external_files external = external_files::same_folder;
  /// Whether attributes count that give stored values another meaning.
  value_conventions conventions = value_conventions::refuse;
};

/// Every dataset in an HDF5 file that can serve as a field, in order of path, links to datasets
/// included, and of records each member that can, in the records' order; values of variable length,
/// strings among them, for `open_hdf5_ragged`. Single values, references and what else is no field
/// are left out. Datasets and groups that the library cannot open are there with the
/// reason. Groups behind soft and external links are not entered.
/// @param options `external` and `conventions` count; the limits of memory mean nothing here.
/// @param left_out Is given the datasets that can be no field, with reasons; null: nobody asks.
/// @throws hdf5_error if the file cannot be opened.
[[nodiscard]] std::vector<hdf5_listing> list_hdf5_fields(
    const std::string& file, const hdf5_options& options = {},
    std::vector<hdf5_left_out>* left_out = nullptr);

/// Opens datasets of one HDF5 file that share their first dimension: a sample is a row of each.
///
/// Rows are read by any number of threads at once, past the HDF5 library and its lock, wherever
/// their layout, filters and type allow (contiguous and chunked, deflate, shuffle, fletcher32,
/// scale-offset, LZF, and szip, LZ4, Zstandard, Blosc 1 and 2, bitshuffle, ZFP, bzip2 and LZO as
/// far as their libraries were there when feedline was built); numbers become the machine's byte
/// order. Chunks are decoded whole, once for all members of their records that are fields, and kept
/// while memory allows: `shuffle{.within = …}` visits them in an order that decodes each once. All
/// else goes through the library, one thread at a time, and a warning tells why;
/// `hdf5_listing::access` does too. If all fields were read whole, `rows()` gives them. Else
/// `encoded()` gives chunks as they are stored, if they do not split rows.
///
/// Values of variable length are for `open_hdf5_ragged`. Records of two equal floating-point
/// numbers are complex: a field by themselves, of pairs.
///
/// Times (HDF5's class H5T_TIME, which gives them no meaning; PyTables' Time32 and Time64) are the
/// signed integers that the file has: i32 and i64. PyTables keeps seconds in the upper half of an
/// i64 `v`, and microseconds in the lower: `double(v >> 32) + 1e-6 * std::int32_t(v)`.
///
/// The file may be mapped (`map_files`). It must not change while it is open: a read that finds it
/// shorter, overwritten or replaced throws. The program may use the library itself meanwhile if
/// that is built thread-safe, as Debian's and Ubuntu's are.
/// @param fields At least one.
/// @throws hdf5_error naming file and dataset: not HDF5, cut short, no such dataset or member (with
///         those there are), records as a whole, first dimensions that differ, no samples, types
///         without an element_type, a filter, raw file or virtual source that is not there, an
///         index of chunks that is damaged, metadata in a cache image, samples larger than the
///         machine's memory.
/// @throws usage_error if there is no field, or two have one name.
[[nodiscard]] dataset_ptr open_hdf5(const std::string& file, std::vector<hdf5_field> fields,
                                    const hdf5_options& options = {});

}  // namespace FEEDLINE_ABI
}  // namespace feedline
