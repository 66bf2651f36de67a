#pragma once

#include <feedline/error.hpp>

#include "hdf5/library/driver.hpp"
#include "hdf5/library/handle.hpp"
#include "hdf5/library/session.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace feedline::detail {

/// A link within a file to a dataset, or to an object that cannot be opened and may be one.
struct hdf5_link {
  std::string path;        ///< absolute
  std::string fault = {};  ///< why the object is unknown; empty: a dataset that opens
};

/// Called with each dataset that is found, open. @param path Absolute path.
using dataset_visitor = std::function<void(const std::string& path, hdf5_dataset_id dataset)>;

/// Opens a dataset. Raw files of an external one are searched for in the HDF5 file's folder.
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
  unsigned long file = 0;              ///< number of its file, among those that are open
};

/// Reads only the object's header. @param name Name of a link, or ".": the location itself.
/// @return Nothing if the link is broken, or the header cannot be read.
[[nodiscard]] std::optional<hdf5_object> describe_object(const hdf5_session& hdf5, hid_t location,
                                                         const std::string& name);

/// The library cannot read a dataset: it is damaged, or its format is newer than the library.
class hdf5_unreadable : public hdf5_error {
 public:
  using hdf5_error::hdf5_error;
};

/// An HDF5 file open for reading.
class hdf5_file {
 public:
  /// @param external Other files that may be read for it.
  /// @throws hdf5_error if the path cannot be read, is not HDF5, is locked or damaged.
  hdf5_file(const hdf5_session& hdf5, const std::filesystem::path& path,
            external_files external = external_files::same_folder);

  /// Visits all groups, and lists the links to datasets, sorted by path. Groups that soft and
  /// external links lead to are not entered. Anything that cannot be opened is listed with the
  /// reason: datasets, groups that cannot be listed completely (the members that were found are
  /// listed too), external links to nothing. Soft links to nothing are left out, because there is
  /// no object.
  /// @param visitor If given, it is called for each dataset that opens, in no particular order.
  [[nodiscard]] std::vector<hdf5_link> datasets(const hdf5_session& hdf5,
                                                const dataset_visitor& visitor = {}) const;

  /// The names of all links in a group, in no particular order.
  /// @throws hdf5_error if there is no such group, or it cannot be listed.
  [[nodiscard]] std::vector<std::string> members(const hdf5_session& hdf5,
                                                 const std::string& group) const;

  /// @param dataset Path of the dataset, from the root.
  /// @param member If given, the path may extend into the dataset, as if it were a group. `*member`
  /// is set to that rest, or to empty. Whether there is such a member is not checked.
  /// @throws hdf5_error if there is no such dataset, with a list of those that there are, or if it
  ///         is in another file that may not be read; hdf5_unreadable if the library cannot open
  ///         it.
  [[nodiscard]] hdf5_dataset_id open_dataset(const hdf5_session& hdf5, const std::string& dataset,
                                             std::string* member = nullptr) const;

  /// An error that there is no such dataset, with a list of those that there are, and `besides`.
  [[nodiscard]] hdf5_error no_such_dataset(const hdf5_session& hdf5, const std::string& dataset,
                                           const std::string& besides = {}) const;

  /// The same for a path that extends into a dataset whose values are not records. @param member
  /// The rest of the path.
  [[nodiscard]] hdf5_error no_such_member(const hdf5_session& hdf5, const std::string& path,
                                          const std::string& member) const;

  /// An error about one dataset of the file.
  [[nodiscard]] hdf5_error error(const std::string& dataset, const std::string& message) const {
    return {{.path = path_, .field = dataset}, message};
  }
  /// An error about a dataset that the library cannot read. @param what Text such as "cannot be
  /// opened".
  [[nodiscard]] hdf5_unreadable unreadable(const hdf5_session& hdf5, const std::string& dataset,
                                           const std::string& what) const {
    return {{.path = path_, .field = dataset}, what + ": " + hdf5.last_message()};
  }

  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  /// The driver through which all its datasets are opened; null if this program has the file open
  /// for writing.
  [[nodiscard]] const std::shared_ptr<hdf5_driver>& driver() const noexcept { return driver_; }
  [[nodiscard]] const hdf5_external_rule& rule() const noexcept { return rule_; }

 private:
  /// @return Like `try_open_dataset`. @throws hdf5_error if it is in a file that may not be read.
  [[nodiscard]] hdf5_dataset_id try_open(const hdf5_session& hdf5,
                                         const std::string& dataset) const;
  /// Throws if the library could not search for the rest of a path that extends past its existing
  /// links.
  void require_look_up(const hdf5_session& hdf5, const std::string& dataset,
                       std::size_t linked) const;

  std::string path_;
  hdf5_external_rule rule_;
  std::shared_ptr<hdf5_driver> driver_ = nullptr;  // outlives the file
  hdf5_file_id id_;
};

}  // namespace feedline::detail
