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

/// The library cannot make out a dataset: it is damaged, or of a form newer than the library.
class hdf5_unreadable : public hdf5_error {
 public:
  using hdf5_error::hdf5_error;
};

/// An HDF5 file open for reading.
class hdf5_file {
 public:
  /// @param external Which other files may be read for it.
  /// @throws hdf5_error if the path cannot be read, is not HDF5, is locked or damaged.
  hdf5_file(const hdf5_session& hdf5, const std::filesystem::path& path,
            external_files external = external_files::same_folder);

  /// Goes through all groups, and lists the links to datasets, sorted by path. Groups behind soft
  /// and external links are not entered. What cannot be opened has its reason: datasets, groups
  /// that cannot be listed (whose other members are), external links to nothing. Soft links to
  /// nothing are left out, for nothing is there.
  /// @param visitor If given, is called for each dataset that opens, in no order of paths.
  [[nodiscard]] std::vector<hdf5_link> datasets(const hdf5_session& hdf5,
                                                const dataset_visitor& visitor = {}) const;

  /// @param dataset Its path, from the root.
  /// @param member  If given, the path may go on into the dataset, as if it were a group: becomes
  /// that rest,
  ///                or empty. Whether there is such a member is not looked at.
  /// @throws hdf5_error if there is no such dataset, telling which there are, or it lies in another
  ///         file that may not be read; hdf5_unreadable if the library cannot open it.
  [[nodiscard]] hdf5_dataset_id open_dataset(const hdf5_session& hdf5, const std::string& dataset,
                                             std::string* member = nullptr) const;

  /// That there is no such dataset, which there are, and what else.
  [[nodiscard]] hdf5_error no_such_dataset(const hdf5_session& hdf5, const std::string& dataset,
                                           const std::string& besides = {}) const;

  /// The same of a path that goes on into a dataset whose values are no records. @param member The
  /// rest.
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
  /// Through which all its datasets are opened; null if this program has it open for writing.
  [[nodiscard]] const std::shared_ptr<hdf5_driver>& driver() const noexcept { return driver_; }
  [[nodiscard]] const hdf5_external_rule& rule() const noexcept { return rule_; }

 private:
  /// @return As `try_open_dataset`. @throws hdf5_error if it lies in a file that may not be read.
  [[nodiscard]] hdf5_dataset_id try_open(const hdf5_session& hdf5,
                                         const std::string& dataset) const;
  /// If a path goes on beyond what there are links for, since the library cannot look further.
  void require_look_up(const hdf5_session& hdf5, const std::string& dataset,
                       std::size_t linked) const;

  std::string path_;
  hdf5_external_rule rule_;
  std::shared_ptr<hdf5_driver> driver_ = nullptr;  // outlives the file
  hdf5_file_id id_;
};

}  // namespace feedline::detail
