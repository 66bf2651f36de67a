#pragma once

#include <feedline/arrays/array_source.hpp>

#include "hdf5/rows/open_rows.hpp"

#include <cstddef>
#include <string>

namespace feedline::detail {

/// A dataset, or a member of its records, as an array of N dimensions.
struct hdf5_found_array {
  hdf5_resolved_field field;
  array_spec spec;  ///< without names of dimensions and packing; its first extent may be 0

  /// Whether chunks are decoded and kept.
  [[nodiscard]] bool is_chunked() const noexcept { return !spec.chunk.empty(); }
};

/// @throws hdf5_error like `find_field`.
[[nodiscard]] hdf5_found_array find_hdf5_array(const hdf5_session& hdf5, const hdf5_file& file,
                                               hdf5_open_context& common, const std::string& path);

/// Call it outside of a session.
/// @param found Its column is moved to the array; all else stays, so that chunks may be opened
/// again. @param cache_bytes Memory for its chunks.
/// @throws hdf5_error if the numbers of an element have different fill values.
[[nodiscard]] array_ptr open_hdf5_found(hdf5_found_array& found, std::size_t cache_bytes);

}  // namespace feedline::detail
