#pragma once

#include "hdf5/filter/filters.hpp"
#include "hdf5/library/file.hpp"
#include "hdf5/library/session.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace feedline::detail {

/// Refuses a dataset that the library cannot give in full: a filter that is not installed, a raw file
/// of an external layout or a source of a virtual one that is not there or too short. The library
/// would fail late at the first, and make up values for the others.
/// @throws hdf5_error naming the filter or the file.
void require_library_can_read(const hdf5_session& hdf5, const hdf5_file& file,
                              const std::string& name, hid_t dataset);

/// The pipeline in a dataset's creation properties. Within a session, as the next.
[[nodiscard]] std::vector<hdf5_filter> filters_of(hid_t creation);

/// Whether this program has a dataset's file open for writing: then what it wrote may not be there yet.
[[nodiscard]] bool is_being_written(hid_t dataset);

/// The file that holds a dataset: not the one that was opened, after an external link.
[[nodiscard]] std::filesystem::path path_of_file(const hdf5_session& hdf5, hid_t dataset);

/// Whether rows that were never written are left as they are in the reader's memory: no fill value
/// is defined, or none is ever to be used.
/// @throws hdf5_unreadable if the file says neither.
[[nodiscard]] bool leaves_gaps(const hdf5_session& hdf5, const hdf5_file& file,
                               const std::string& name, hid_t dataset);

}  // namespace feedline::detail
