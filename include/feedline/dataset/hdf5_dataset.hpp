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

/// Every dataset in an HDF5 file that can serve as a field, in order of path, links to datasets
/// included; others are left out. Groups behind soft and external links are not entered.
/// @throws hdf5_error if the file cannot be opened.
[[nodiscard]] std::vector<hdf5_listing> list_fields(const std::filesystem::path& file);

/// Opens datasets of one HDF5 file that share their first dimension: a sample is a row of each.
///
/// Every layout and filter that the installed library knows serves; values are converted to the
/// machine's byte order. Fields of at most 64 MiB together, the smallest first, are read whole at
/// once; rows of the others go through the HDF5 library, one thread at a time, which keeps up to 64
/// MiB of decoded chunks for each. The program may use the library itself meanwhile if that is
/// built thread-safe, as Debian's and Ubuntu's are.
/// @param fields At least one.
/// @throws hdf5_error naming file and dataset: not HDF5, cut short, no such dataset (with those
///         there are), first dimensions that differ, no samples, types without an element_type, a
///         filter, raw file or virtual source that is not there.
[[nodiscard]] dataset_ptr open_hdf5(const std::filesystem::path& file,
                                    std::vector<hdf5_field> fields);

}  // namespace feedline
