#pragma once

#include <feedline/dataset/element_type.hpp>
#include <feedline/dataset/field.hpp>
#include <feedline/formats/open.hpp>

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// Attributes of arrays and groups, carried over from HDF5 files and Zarr stores to either.

namespace convert {

/// An attribute: a number, a text, or a list of these.
struct attribute {
  std::string name;
  /// JSON. The texts "NaN", "Infinity" and "-Infinity" are numbers, which JSON does not have;
  /// not if `is_text`.
  std::string value;
  std::optional<feedline::element_type> type = {};  ///< type of numbers in HDF5, if one is known
  bool is_text = false;                             ///< the file has texts
};

/// The attributes of an array or group.
struct attributes {
  std::vector<attribute> all = {};
  std::vector<std::string> dimensions = {};  ///< names of dimensions; empty: it has none
  /// The number that stands for a missing value, as JSON: `_FillValue`, and the fill value of
  /// arrays of Zarr 2. Empty: there is none.
  std::string missing = {};
};

/// Attributes for an output.
struct carried_attributes {
  std::vector<attributes> fields = {};  ///< in the fields' order; empty: none is carried over
  attributes whole = {};
  std::map<std::string, attributes> groups = {};  ///< groups above fields, by their paths
};

/// An output field, and the object of an HDF5 file or Zarr store that it comes from.
struct field_origin {
  std::string file = {};                 ///< empty: it comes from another format
  std::string format = {};               ///< "hdf5", "zarr"
  std::string object = {};               ///< path in the file
  std::vector<std::string> others = {};  ///< files whose samples follow
  bool keeps_groups = false;             ///< the output has the groups above it
};

/// Finds the objects that fields of an opened file come from. Fields whose object is not certain
/// have none, and a warning names them.
[[nodiscard]] std::vector<field_origin> origins_of(const std::string& file,
                                                   const feedline::dataset& opened,
                                                   const feedline::open_options& how);

/// Reads the attributes of all origins, and of the files as a whole. A warning names each
/// attribute that cannot be carried over, with the reason: also those of an array or group that
/// other files do not have, or have otherwise. If inputs are beside each other, a group has
/// those of the first.
/// @throws feedline::usage_error if files store numbers in different ways (`scale_factor`,
/// `_FillValue` and the like), so that no attribute would be true of all samples.
[[nodiscard]] carried_attributes read_attributes(const std::vector<field_origin>& origins,
                                                 feedline::external_files external);

/// Whether attributes are about how HDF5 or Zarr store an array: they are not carried over.
[[nodiscard]] bool is_of_storage(std::string_view name) noexcept;
/// Warns that an attribute is not carried over.
void tell_left_out(const std::string& file, const std::string& object, const std::string& name,
                   const std::string& why);

/// The attributes of an array, or of a group. @param object Path; "": the whole file.
[[nodiscard]] attributes read_zarr_attributes(const std::string& store, const std::string& object);
/// @param dataset Path of a dataset.
/// @param group Path of a group of the same file, whose attributes are read instead; nothing: the
/// dataset's.
[[nodiscard]] attributes read_hdf5_attributes(const std::string& file, const std::string& dataset,
                                              const std::optional<std::string>& group,
                                              feedline::external_files external);

/// An array's attributes as a JSON object of a Zarr store.
/// @param is_v3 Version 3, which has names of dimensions elsewhere.
[[nodiscard]] std::string zarr_attributes_json(const attributes& of, const feedline::field& field,
                                               bool is_v3);
/// The value for `dimension_names` of version 3; empty: none.
[[nodiscard]] std::string zarr_dimensions_json(const attributes& of, const feedline::field& field);
/// The value for `fill_value`; empty: none. A warning tells if the type cannot hold it.
[[nodiscard]] std::string zarr_fill_json(const attributes& of, const feedline::field& field);

}  // namespace convert
