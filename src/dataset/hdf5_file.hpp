#pragma once

#include <feedline/error.hpp>

#include "dataset/hdf5_handle.hpp"
#include "dataset/hdf5_session.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace feedline::detail {

/// An HDF5 file open for reading.
class hdf5_file {
 public:
  /// @throws hdf5_error if the path cannot be read, is not HDF5, or is damaged.
  hdf5_file(const hdf5_session& hdf5, const std::filesystem::path& path);

  /// Absolute paths of all links to datasets, sorted; within the file, or through a link that
  /// resolves. Groups behind soft and external links are not entered.
  [[nodiscard]] std::vector<std::string> dataset_paths(const hdf5_session& hdf5) const;

  /// As `detail::member_paths`, of a dataset's values. @throws hdf5_error if there is no such dataset.
  [[nodiscard]] std::vector<std::string> member_paths(const hdf5_session& hdf5,
                                                      const std::string& dataset) const;

  /// @param dataset Its path, from the root.
  /// @param member  If given, the path may go on into the dataset, as if it were a group: becomes that rest,
  ///                or empty. Whether there is such a member is not looked at.
  /// @throws hdf5_error if there is no such dataset, telling which there are.
  [[nodiscard]] hdf5_dataset_id open_dataset(const hdf5_session& hdf5, const std::string& dataset,
                                             std::string* member = nullptr) const;

  /// That there is no such dataset, which there are, and what else.
  [[nodiscard]] hdf5_error no_such_dataset(const hdf5_session& hdf5, const std::string& dataset,
                                           const std::string& besides = {}) const;

  /// An error about one dataset of the file.
  [[nodiscard]] hdf5_error error(const std::string& dataset, const std::string& message) const {
    return {{.path = path_, .field = dataset}, message};
  }

  [[nodiscard]] const std::string& path() const noexcept { return path_; }

 private:
  std::string path_;
  hdf5_file_id id_;
};

}  // namespace feedline::detail
