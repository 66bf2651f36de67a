#pragma once

#include "hdf5/library/handle.hpp"
#include "hdf5/library/session.hpp"
#include "io/random_file.hpp"

#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>

namespace feedline::detail {

/// A file driver for the HDF5 library that reads metadata from a `random_file`, and of raw data only
/// notes what was asked for. So reading a chunk tells where the library finds it, whatever its index;
/// no byte of it is read. (HDF5 Virtual File Layer)
///
/// The library keeps no file that is open through it together with one that is open through another
/// driver: it sees the file as it is stored. Registered with the library while it lives.
class hdf5_lookup_driver {
 public:
  /// Bytes of the file, absolute.
  struct place {
    std::uint64_t offset;
    std::uint64_t bytes;
  };

  /// @param file Outlives the driver and all files that are open through it.
  hdf5_lookup_driver(const hdf5_session& hdf5, const random_file& file);
  hdf5_lookup_driver(const hdf5_lookup_driver&) = delete;
  hdf5_lookup_driver& operator=(const hdf5_lookup_driver&) = delete;
  ~hdf5_lookup_driver();

  /// Opens the file, for reading. @return Empty if the library refuses.
  [[nodiscard]] hdf5_file_id open(const hdf5_session& hdf5);

  /// What raw data was asked for since the last call, if any was.
  [[nodiscard]] std::optional<place> take_asked() noexcept;
  /// Throws what a read threw since the last call, for the library passes on no exceptions.
  void rethrow();

 private:
  struct open_file;
  struct callbacks;

  const random_file& file_;
  hid_t id_ = H5I_INVALID_HID;
  std::optional<place> asked_ = {};
  std::exception_ptr failure_ = {};
};

}  // namespace feedline::detail
