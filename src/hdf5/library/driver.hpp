#pragma once

#include "hdf5/library/external_rule.hpp"
#include "hdf5/library/handle.hpp"
#include "hdf5/library/session.hpp"
#include "io/byte_file.hpp"

#if __has_include(<H5FDdevelop.h>)
#include <H5FDdevelop.h>
#endif

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace feedline::detail {

/// A file driver through which the HDF5 library reads files for feedline: the file that was opened,
/// and all files that the library opens because of it, such as targets of external links and
/// sources of virtual datasets. (HDF5 Virtual File Layer) Raw files of the external layout are not
/// included: the library reads these without a driver.
///
/// Each file is a `byte_file`, so changes to it are noticed, and many files share few
/// descriptors. If a file cannot be opened, the library may not report it, and return fill values:
/// the driver knows it.
///
/// Files and objects that were opened through it must not outlive it. All calls, including the
/// destructor, must be within a session.
class hdf5_driver {
 public:
  /// @param rule Applies to all files but the first that is opened.
  hdf5_driver(const hdf5_session& hdf5, hdf5_external_rule rule);
  hdf5_driver(const hdf5_driver&) = delete;
  hdf5_driver& operator=(const hdf5_driver&) = delete;
  ~hdf5_driver();

  /// Properties with which to open a file.
  [[nodiscard]] hdf5_properties_id access(const hdf5_session& hdf5) const;

  /// The file that holds a dataset; null if it was not opened through such a driver.
  [[nodiscard]] static byte_file_ptr file_of(const hdf5_session& hdf5, hid_t dataset);

  /// From now on only files that were opened before can be opened.
  void admit_no_more() noexcept { is_closed_ = true; }

  /// Clears all failures, and the list of files that were read.
  void begin() noexcept {
    hdf5_session::explain({});
    failure_.reset();
    absent_.clear();
    opened_.clear();
    read_.clear();
  }
  /// The first failure since `begin`: a file could not be opened or read. A missing file is a
  /// failure only if it was there before, because the library looks in several folders.
  [[nodiscard]] const std::optional<dataset_error>& failure() const noexcept { return failure_; }
  /// The same failure; or one of these since `begin`: a file was found in none of the folders where
  /// the library looks for it; a file was opened and closed again, as the library does if it cannot
  /// understand a file; or a file that was read has changed.
  [[nodiscard]] std::optional<dataset_error> fault() const;

 private:
  struct open_file;

  [[nodiscard]] static H5FD_class_t describe();
  [[nodiscard]] H5FD_t* open(const char* name);
  /// @return The file, or null if there is none at this path. @throws dataset_error
  [[nodiscard]] byte_file_ptr find(const std::filesystem::path& path);
  /// Says whether a file that was opened was deleted, replaced, or not understood by the library;
  /// empty if none of these.
  [[nodiscard]] std::string change_of(const byte_file& opened) const;
  /// Calls `body`, and stores the exception that it throws. @return A status in the form that
  /// drivers' functions return.
  template <class Body>
  herr_t guard(Body body) noexcept;
  void keep(const dataset_error& failure);

  hdf5_external_rule rule_;
  hdf5_handle<H5FDunregister> id_;
  std::map<std::string, byte_file_ptr> files_ = {};  ///< all files that were ever opened, by path
  std::vector<const byte_file*> read_ = {};
  std::vector<byte_file_ptr> opened_ = {};
  std::vector<std::filesystem::path> absent_ = {};  ///< requested, and not found anywhere so far
  std::optional<dataset_error> failure_ = {};
  std::map<const byte_file*, std::size_t> open_ = {};  ///< how often each file is open
  bool is_closed_ = false;
  hdf5_driver* next_;  ///< next driver in the list of all
};

/// Opens once more a file that this program has open for writing through the HDF5 library, so that
/// the library returns values from its memory. Empty if the program has not.
[[nodiscard]] hdf5_file_id open_if_being_written(const hdf5_session& hdf5,
                                                 const std::filesystem::path& path);

}  // namespace feedline::detail
