#pragma once

#include <feedline/io/external_files.hpp>

#include <filesystem>
#include <string>

namespace feedline::detail {

/// Which files outside of an HDF5 file may be read for it.
class hdf5_external_rule {
 public:
  /// @param file The HDF5 file.
  hdf5_external_rule(const std::filesystem::path& file, external_files allowed);

  /// Why a file may not be read, or empty.
  [[nodiscard]] std::string refusal_of(const std::filesystem::path& other) const;

 private:
  external_files allowed_;
  std::filesystem::path folder_;         ///< of the file by its name, links followed
  std::filesystem::path actual_folder_;  ///< of the file that a link leads to
};

}  // namespace feedline::detail
