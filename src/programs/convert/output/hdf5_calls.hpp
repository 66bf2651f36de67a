#pragma once

#include "hdf5/library/handle.hpp"
#include "hdf5/library/session.hpp"

#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>

namespace convert {

using feedline::detail::hdf5_dataset_id;
using feedline::detail::hdf5_file_id;
using feedline::detail::hdf5_handle;
using feedline::detail::hdf5_properties_id;
using feedline::detail::hdf5_space_id;
using feedline::detail::hdf5_type_id;

/// The HDF5 library, for calls that concern one file.
class hdf5_session : public feedline::detail::hdf5_session {
 public:
  explicit hdf5_session(const std::filesystem::path& path) : path_{path} {}
  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }

 private:
  const std::filesystem::path& path_;
};

/// Why the session's last call failed: the system's words where the library passes them on, else its own.
[[nodiscard]] inline std::string reason_of(const hdf5_session& hdf5) {
  std::string words = hdf5.last_message();
  constexpr std::string_view before = "error message = '";
  const auto at = words.find(before);
  if (at == std::string::npos) return words;
  const auto begin = at + before.size();
  return words.substr(begin, words.find('\'', begin) - begin);
}

[[noreturn]] inline void hdf5_failure(const hdf5_session& hdf5, const std::string& what) {
  throw std::runtime_error{hdf5.path().string() + ": the HDF5 library cannot " + what + ": " +
                           reason_of(hdf5)};
}

inline void require(const hdf5_session& hdf5, herr_t status, const char* what) {
  if (status < 0) hdf5_failure(hdf5, what);
}

/// Takes what a call returned: a handle, or a failure.
template <class Handle>
[[nodiscard]] Handle required(const hdf5_session& hdf5, hid_t id, const char* what) {
  if (id < 0) hdf5_failure(hdf5, what);
  return Handle{id};
}

}  // namespace convert
