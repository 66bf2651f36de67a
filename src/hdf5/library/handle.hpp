#pragma once

#include <hdf5.h>

#include <utility>

namespace feedline::detail {

/// Owns one HDF5 id of one kind and closes it. Move-only. Like every call of the library, its
/// destruction must be within an `hdf5_session`: declare the session first.
template <herr_t (*Close)(hid_t)>
class hdf5_handle {
 public:
  hdf5_handle() = default;

  /// Takes the result of an HDF5 call; a negative id makes an empty handle.
  explicit hdf5_handle(hid_t id) noexcept : id_{id} {}

  hdf5_handle(hdf5_handle&& other) noexcept : id_{std::exchange(other.id_, H5I_INVALID_HID)} {}
  hdf5_handle& operator=(hdf5_handle&& other) noexcept {
    std::swap(id_, other.id_);
    return *this;
  }
  ~hdf5_handle() {
    if (id_ >= 0) Close(id_);
  }

  explicit operator bool() const noexcept { return id_ >= 0; }
  [[nodiscard]] hid_t get() const noexcept { return id_; }
  /// Gives up the id: the caller must close it.
  [[nodiscard]] hid_t release() noexcept { return std::exchange(id_, H5I_INVALID_HID); }

 private:
  hid_t id_ = H5I_INVALID_HID;
};

using hdf5_file_id = hdf5_handle<H5Fclose>;
using hdf5_object_id = hdf5_handle<H5Oclose>;
using hdf5_dataset_id = hdf5_handle<H5Dclose>;
using hdf5_type_id = hdf5_handle<H5Tclose>;
using hdf5_space_id = hdf5_handle<H5Sclose>;
using hdf5_properties_id = hdf5_handle<H5Pclose>;

}  // namespace feedline::detail
