#pragma once

#include <feedline/dataset/dataset.hpp>
#include <feedline/export.hpp>
#include <feedline/ragged/dataset.hpp>
#include <feedline/ragged/pad.hpp>

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// Options for `open_array_files`.
struct array_file_options {
  /// Fields to open, in the wanted order; empty: all that can be fields.
  std::vector<std::string> fields = {};
  /// Padding of ragged fields, by name; same as `decode_options::pad`.
  std::map<std::string, pad_options> pad = {};
  /// Number of files that are read to choose fields, spread evenly over all files. 0: one file.
  std::size_t looked_at = 64;
};

/// Opens files of arrays, each of which is one sample: NumPy's .npz and .npy, and .safetensors.
/// Target `feedline::formats`; .npz needs libzip, .safetensors nlohmann-json.
///
///     auto train = feedline::open_array_files(
///         {"kits19/case_*.npz"},
///         {.pad = {{"x", {.length = 1 << 24, .longer = feedline::pad_longer::truncate}}}});
///
/// Each array is one field, with the array's name; the array in a .npy file is named "array". Some
/// files are read to choose fields (`array_file_options::looked_at`):
///
/// - if an array has one shape in all of these files, the field has this shape; a single number is
///   a scalar;
/// - if only the first extents differ, the field is ragged over the first dimension;
/// - if other extents differ, the field is ragged over all values, in C order, and a field
///   NAME_shape, int64[number of dimensions], has the extents.
///
/// An array is left out if its type or its number of dimensions differs between these files, or if
/// one of them lacks it; the log says so. If a file differs when its sample is read, that is an
/// error. Ragged fields are padded: without a length in `pad`, the headers of all files are read to
/// find the longest.
///
/// A file is opened when its sample is read. Only the arrays of wanted fields are read, directly
/// into the batch if they are stored uncompressed.
/// @param files Paths, patterns (see `expand_paths`), or folders. A folder stands for all its files
/// except hidden ones, in order of the bytes of their names.
/// @throws dataset_error naming the file: another kind, damaged, no array that can be a field; a
/// folder without files.
/// @throws usage_error if there is no file, or a field does not exist; errors of `decode` about
/// `pad`.
[[nodiscard]] dataset_ptr open_array_files(const std::vector<std::string>& files,
                                           const array_file_options& options = {});

/// One ragged field of such files, for `pack`, `pad` and `bucket_by_length`; see `decode_ragged`.
/// @param options `fields` and `pad` are not used.
[[nodiscard]] ragged_dataset_ptr open_array_files_ragged(const std::vector<std::string>& files,
                                                         const std::string& field,
                                                         const array_file_options& options = {});

}  // namespace FEEDLINE_ABI
}  // namespace feedline
