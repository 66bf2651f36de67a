#pragma once

#include <feedline/io/external_files.hpp>

#include <filesystem>
#include <string>

namespace feedline::detail {

/// Decides which files outside of an HDF5 file may be read for it.
class hdf5_external_rule {
 public:
  /// @param file The HDF5 file.
  hdf5_external_rule(const std::filesystem::path& file, external_files allowed);

  /// The reason why a file may not be read, or empty.
  [[nodiscard]] std::string refusal_of(const std::filesystem::path& other) const;

 private:
  external_files allowed_;
  std::filesystem::path folder_;         ///< folder of the file's name, with links followed
  std::filesystem::path actual_folder_;  ///< folder of the file to which the name is a link
};

}  // namespace feedline::detail
