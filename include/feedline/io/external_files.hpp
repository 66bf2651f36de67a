#pragma once

#include <feedline/export.hpp>

#include <cstdint>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// Other files that may be read for an HDF5 file. An HDF5 file can name any file of the user's: as
/// raw data (external layout), as the target of an external link, as the source of a virtual
/// dataset. Copying or sending data read from a file of unknown origin could disclose such a file.
enum class external_files : std::uint8_t {
  refuse,  ///< none: a field that needs another file is refused, with that file's path
  /// Files in the folder of the HDF5 file and in folders within, after symbolic links are resolved.
  /// All others are refused, with their paths.
  same_folder,
  allow,  ///< any file that the user may read
};

}  // namespace FEEDLINE_ABI
}  // namespace feedline
