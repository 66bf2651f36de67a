#pragma once

#include <feedline/dataset/field.hpp>

#include "hdf5/library/handle.hpp"
#include "hdf5/library/session.hpp"
#include "programs/convert/output/durable_file.hpp"
#include "programs/convert/output/job.hpp"

#include <cstdint>
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

/// Error of the session's last failed call: the system's message if the library passes it on,
/// otherwise the library's.
[[noreturn]] inline void hdf5_failure(const hdf5_session& hdf5, const std::string& what) {
  std::string words = hdf5.last_message();
  constexpr std::string_view before = "error message = '";
  if (const auto at = words.find(before); at != std::string::npos) {
    words.erase(0, at + before.size());
    words = words.substr(0, words.find('\''));
  }
  throw std::runtime_error{hdf5.path().string() + ": the HDF5 library cannot " + what + ": " +
                           words};
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

/// One field, to be written.
struct hdf5_column {
  hdf5_type_id type;  ///< type of an element, in memory and in the file
  hdf5_dataset_id dataset;
  bool is_contiguous = false;   ///< it lies in one piece
  bool is_packed_here = false;  ///< in chunks whose filters are not the library's work
};

/// The type that h5py reads as NumPy's bool.
[[nodiscard]] hdf5_type_id boolean_type(const hdf5_session& hdf5);

/// @throws feedline::usage_error if the library lacks what a layout needs.
void require_filter(const hdf5_layout& layout);

/// Makes a field's dataset in a file, or opens the one that was made so.
/// @param layout `chunk_rows` 0: small fields lie in one piece. @param chunk_rows Samples in a
/// chunk.
[[nodiscard]] hdf5_column open_column(const hdf5_session& hdf5, hid_t file, durable_file::mode how,
                                      const feedline::field& field, std::uint64_t samples,
                                      const hdf5_layout& layout, std::uint64_t chunk_rows);

}  // namespace convert
