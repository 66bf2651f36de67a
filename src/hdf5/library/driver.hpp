#pragma once

#include "hdf5/library/external_rule.hpp"
#include "hdf5/library/handle.hpp"
#include "hdf5/library/session.hpp"
#include "io/random_file.hpp"

#if __has_include(<H5FDdevelop.h>)
#include <H5FDdevelop.h>
#endif

#include <sys/stat.h>

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace feedline::detail {

/// A file driver through which the HDF5 library reads files for feedline: the file that was opened,
/// and all that the library opens in turn, such as targets of external links and sources of virtual
/// datasets. (HDF5 Virtual File Layer) Raw files of the external layout are not among them: the
/// library reads these without a driver.
///
/// Each file is a `random_file`, so it is guarded against change, and many share few descriptors.
/// Of a file that cannot be opened the library may say nothing, and give fill values: the driver
/// knows it.
///
/// Whatever was opened through it must not outlive it. All calls, the destructor's included, fall
/// within a session.
class hdf5_driver {
 public:
  /// @param rule For all files but the first that is opened.
  hdf5_driver(const hdf5_session& hdf5, hdf5_external_rule rule);
  hdf5_driver(const hdf5_driver&) = delete;
  hdf5_driver& operator=(const hdf5_driver&) = delete;
  ~hdf5_driver();

  /// Properties to open a file with.
  [[nodiscard]] hdf5_properties_id access(const hdf5_session& hdf5) const;

  /// The file that holds a dataset; null if that was opened through no such driver.
  [[nodiscard]] static random_file_ptr file_of(const hdf5_session& hdf5, hid_t dataset);

  /// From now on no file is opened that was not opened before.
  void admit_no_more() noexcept { is_closed_ = true; }

  /// Forgets what went wrong, and which files were read.
  void begin() noexcept {
    hdf5_session::explain({});
    failure_.reset();
    absent_.clear();
    opened_.clear();
    read_.clear();
  }
  /// What went wrong first since `begin`: a file could not be opened or read. One that is not there
  /// is nothing wrong, unless it was there before: the library looks in several places.
  [[nodiscard]] const std::optional<dataset_error>& failure() const noexcept { return failure_; }
  /// The same; or that since `begin` a file was found in none of the places where the library looks
  /// for it, was opened and closed again, as the library does with what it cannot make out, or has
  /// changed, of those that were read.
  [[nodiscard]] std::optional<dataset_error> fault() const;

 private:
  struct open_file;
  struct known_file {
    random_file_ptr file;
    struct stat status;  ///< when it was opened first
  };

  [[nodiscard]] static H5FD_class_t describe();
  [[nodiscard]] H5FD_t* open(const char* name);
  /// @return The file, or null if there is none under this path. @throws dataset_error
  [[nodiscard]] const known_file* find(const std::filesystem::path& path);
  /// What became of a file that the library opened anew, or empty.
  [[nodiscard]] std::string change_of(const known_file& opened) const;
  /// Calls `body`, and keeps what it throws. @return As drivers' functions do.
  template <class Body>
  herr_t guard(Body body) noexcept;
  void keep(const dataset_error& failure);

  hdf5_external_rule rule_;
  hdf5_handle<H5FDunregister> id_;
  std::map<std::string, known_file> files_ = {};  ///< by path: all that were ever opened
  std::vector<const random_file*> read_ = {};
  std::vector<const known_file*> opened_ = {};
  std::vector<std::filesystem::path> absent_ = {};  ///< asked for, and not found elsewhere so far
  std::optional<dataset_error> failure_ = {};
  std::map<const random_file*, std::size_t> open_ = {};  ///< how often each is open
  bool is_closed_ = false;
  hdf5_driver* next_;  ///< of all there are
};

/// A file that this program has open for writing through the HDF5 library, opened once more so that
/// the library gives what lies in its memory. Empty if it has not.
[[nodiscard]] hdf5_file_id open_if_being_written(const hdf5_session& hdf5,
                                                 const std::filesystem::path& path);

}  // namespace feedline::detail
