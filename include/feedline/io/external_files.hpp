#pragma once

#include <feedline/export.hpp>

#include <cstdint>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// Which other files an HDF5 file may have read for it. It can name any file of the user's: as raw
/// data (external layout), behind an external link, as the source of a virtual dataset. Whoever
/// copies or sends on what is read from a file of unknown origin would give that file away.
enum class external_files : std::uint8_t {
  refuse,  ///< none: a field that needs another file is refused, with that file's path
  /// Those in the folder of the HDF5 file, and in folders within it, symbolic links followed to
  /// their ends. All others are refused, with their paths.
  same_folder,
  allow,  ///< any that the user may read
};

}  // namespace FEEDLINE_ABI
}  // namespace feedline
