#pragma once

#include <feedline/error.hpp>

#include "hdf5/library/handle.hpp"
#include "hdf5/library/session.hpp"
#include "hdf5/library/tree.hpp"

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

namespace feedline::detail {

/// The library cannot make out a dataset: it is damaged, or of a form newer than the library.
class hdf5_unreadable : public hdf5_error {
 public:
  using hdf5_error::hdf5_error;
};

/// An HDF5 file open for reading.
class hdf5_file {
 public:
  /// @throws hdf5_error if the path cannot be read, is not HDF5, or is damaged.
  hdf5_file(const hdf5_session& hdf5, const std::filesystem::path& path);

  /// As `find_datasets`.
  [[nodiscard]] std::vector<hdf5_link> datasets(const hdf5_session& hdf5,
                                                const dataset_visitor& visitor = {}) const {
    return find_datasets(hdf5, id_.get(), visitor);
  }

  /// @param dataset Its path, from the root.
  /// @param member  If given, the path may go on into the dataset, as if it were a group: becomes that rest,
  ///                or empty. Whether there is such a member is not looked at.
  /// @throws hdf5_error if there is no such dataset, telling which there are; hdf5_unreadable if the
  ///         library cannot open it.
  [[nodiscard]] hdf5_dataset_id open_dataset(const hdf5_session& hdf5, const std::string& dataset,
                                             std::string* member = nullptr) const;

  /// That there is no such dataset, which there are, and what else.
  [[nodiscard]] hdf5_error no_such_dataset(const hdf5_session& hdf5, const std::string& dataset,
                                           const std::string& besides = {}) const;

  /// The same of a path that goes on into a dataset whose values are no records. @param member The rest.
  [[nodiscard]] hdf5_error no_such_member(const hdf5_session& hdf5, const std::string& path,
                                          const std::string& member) const;

  /// An error about one dataset of the file.
  [[nodiscard]] hdf5_error error(const std::string& dataset, const std::string& message) const {
    return {{.path = path_, .field = dataset}, message};
  }
  /// The same, of one that the library cannot make out. @param what "cannot be opened", …
  [[nodiscard]] hdf5_unreadable unreadable(const hdf5_session& hdf5, const std::string& dataset,
                                           const std::string& what) const {
    return {{.path = path_, .field = dataset}, what + ": " + hdf5.last_message()};
  }

  [[nodiscard]] const std::string& path() const noexcept { return path_; }

 private:
  /// If a path goes on beyond what there are links for, since the library cannot look further.
  void require_look_up(const hdf5_session& hdf5, const std::string& dataset,
                       std::size_t linked) const;

  std::string path_;
  hdf5_file_id id_;
};

}  // namespace feedline::detail
