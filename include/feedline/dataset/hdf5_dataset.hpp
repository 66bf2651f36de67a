#pragma once

#include <feedline/dataset/dataset.hpp>

#include <filesystem>
#include <string>
#include <vector>

namespace feedline {

/// An HDF5 dataset chosen as a field.
struct hdf5_field {
  std::string dataset;    ///< path within the file: "train/images"
  std::string name = {};  ///< of the field; empty: the last part of the path
};

/// What `list_fields` found: a dataset of a file that could be a field.
struct hdf5_listing {
  std::string dataset;        ///< absolute path within the file
  std::uint64_t samples = 0;  ///< its first dimension
  feedline::field spec;       ///< name, type and shape as the field would have
};

/// Every dataset in an HDF5 file that can serve as a field, in order of path; others are left out.
/// @throws hdf5_error if the file cannot be opened.
[[nodiscard]] std::vector<hdf5_listing> list_fields(const std::filesystem::path& file);

/// Opens datasets of one HDF5 file that share their first dimension: a sample is a row of each.
///
/// Reads go through the HDF5 library, one thread at a time; every layout and filter that the
/// installed library knows serves. Numeric types are converted to the machine's byte order.
/// @param fields At least one.
/// @throws hdf5_error naming file and dataset: not HDF5, cut short, no such dataset (with those
/// there are), first
///         dimensions that differ, no samples, types without an element_type.
[[nodiscard]] dataset_ptr open_hdf5(const std::filesystem::path& file,
                                    std::vector<hdf5_field> fields);

}  // namespace feedline
