#pragma once

#include "hdf5/library/handle.hpp"
#include "hdf5/library/session.hpp"

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace feedline::detail {

/// A link within a file that leads to a dataset, or that may: to an object that cannot be opened.
struct hdf5_link {
  std::string path;        ///< absolute
  std::string fault = {};  ///< why nothing is known of what is there; empty: a dataset that opens
};

/// Is given a dataset that was found, open. @param path Absolute.
using dataset_visitor = std::function<void(const std::string& path, hdf5_dataset_id dataset)>;

/// Opens a dataset. Raw files of an external one are looked for where the HDF5 file is.
/// @param location The file, or a group in it.
/// @return Empty if the library refuses.
[[nodiscard]] hdf5_dataset_id try_open_dataset(const hdf5_session& hdf5, hid_t location,
                                               const std::string& name);

/// An object of a file.
struct hdf5_object {
#if H5_VERSION_GE(1, 12, 0)
  std::array<std::uint8_t, H5O_MAX_TOKEN_SIZE> key{};
#else
  haddr_t key = HADDR_UNDEF;
#endif
  H5O_type_t type = H5O_TYPE_UNKNOWN;  ///< though the library may be unable to open it
};

/// Reads no more of an object than that. @param name Of a link, or ".": the location itself.
/// @return Nothing if the link leads nowhere, or even that cannot be read.
[[nodiscard]] std::optional<hdf5_object> describe_object(const hdf5_session& hdf5, hid_t location,
                                                         const std::string& name);

/// Goes through all groups of a file, and lists the links to datasets, sorted by path. Groups behind
/// soft and external links are not entered. What cannot be opened has its reason: datasets, groups
/// that cannot be listed (whose other members are), external links to nothing. Soft links to nothing
/// are left out, for nothing is there.
/// @param visitor If given, is called for each dataset that opens, in no order of paths.
[[nodiscard]] std::vector<hdf5_link> find_datasets(const hdf5_session& hdf5, hid_t file,
                                                   const dataset_visitor& visitor = {});

}  // namespace feedline::detail
