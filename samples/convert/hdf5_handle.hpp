#pragma once

#include <hdf5.h>

#include <stdexcept>
#include <string>
#include <utility>

namespace convert {

/// The library's own words for what it could not do last: its innermost message.
[[nodiscard]] inline std::string hdf5_words() {
  std::string words;
  H5Ewalk2(
      H5E_DEFAULT, H5E_WALK_DOWNWARD,
      [](unsigned, const H5E_error2_t* entry, void* into) -> herr_t {
        *static_cast<std::string*>(into) = entry->desc != nullptr ? entry->desc : "";
        return 0;
      },
      &words);
  return words.empty() ? "" : ": " + words;
}

[[noreturn]] inline void hdf5_failure(const char* what) {
  throw std::runtime_error{std::string{"the HDF5 library cannot "} + what + hdf5_words()};
}

inline void require(herr_t status, const char* what) {
  if (status < 0) hdf5_failure(what);
}

/// An id of the HDF5 library, closed at the end of its scope.
class hdf5_handle {
 public:
  hdf5_handle(const char* what, hid_t id, herr_t (*close)(hid_t)) : id_{id}, close_{close} {
    if (id < 0) hdf5_failure(what);
  }
  hdf5_handle(hdf5_handle&& other) noexcept
      : id_{std::exchange(other.id_, H5I_INVALID_HID)}, close_{other.close_} {}
  hdf5_handle& operator=(hdf5_handle&&) = delete;
  ~hdf5_handle() {
    if (id_ >= 0) close_(id_);
  }
  // So that the library's functions take it as it is.
  operator hid_t() const noexcept { return id_; }

 private:
  hid_t id_;
  herr_t (*close_)(hid_t);
};

}  // namespace convert
