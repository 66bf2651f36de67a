#pragma once

#include "hdf5/filter/filters.hpp"
#include "hdf5/library/file.hpp"
#include "hdf5/library/session.hpp"
#include "hdf5/library/type.hpp"
#include "io/byte_file.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

namespace feedline::detail {

/// How an HDF5 dataset's values are stored, and whether feedline may read them itself, without the
/// library and its lock.
struct hdf5_storage_layout {
  enum class layout : std::uint8_t { unwritten, contiguous, chunked, other };

  /// The reason why the library must read them: feedline does not know the form, or may not rely on
  /// it. Empty: feedline may read them.
  std::string refusal = {};
  layout stored = layout::other;
  std::vector<std::uint64_t> chunk = {};  ///< extents of a chunk, if the layout is chunked
  std::uint64_t offset = 0;               ///< offset of the first value, if it is contiguous

  hdf5_filters filters{{}};
  std::size_t element_bytes = 0;  ///< bytes of one element; that of an array type is the array
  std::size_t stored_bytes =
      0;  ///< from one element to the next: more if it is a member of records
  std::size_t stored_offset = 0;  ///< offset of the member in its record
  std::size_t swapped_bytes = 1;  ///< like `row_place::swapped_bytes`
  /// Bytes that are repeated where nothing was written, in the form that they have in memory: an
  /// element, or zeros whose size divides an element's.
  std::vector<std::byte> fill = {};

  /// Whether elements are not adjacent, like members of records.
  [[nodiscard]] bool is_spread() const noexcept { return stored_bytes != element_bytes; }

  /// "contiguous", "chunks of 16 samples, shuffle, deflate", …, or the library and the reason.
  [[nodiscard]] std::string describe() const;
};

/// Decides only by the dataset's properties; finds no chunks. `src/hdf5/README.md` gives the reason
/// for each rule.
[[nodiscard]] hdf5_storage_layout examine_storage(const hdf5_session& hdf5, const hdf5_file& file,
                                                  const std::string& name, hid_t dataset,
                                                  const hdf5_element& element);

/// A file that must be checked when the library reads some samples.
struct hdf5_needed_file {
  byte_file_ptr file;
  std::uint64_t first = 0;                                         ///< sample with values in it
  std::uint64_t last = std::numeric_limits<std::uint64_t>::max();  ///< sample with values in it
};

/// Refuses a dataset that the library cannot return completely: a filter is not installed; or a raw
/// file of an external layout, or a source of a virtual one, is missing, too short, locked, or may
/// not be read. The library would fail late in the first case, and make up values in the others.
/// @return The dataset's own file and raw files. The driver checks files that the library opens
///         through it.
/// @throws hdf5_error that names the filter or the file.
[[nodiscard]] std::vector<hdf5_needed_file> require_library_can_read(const hdf5_session& hdf5,
                                                                     const hdf5_file& file,
                                                                     const std::string& name,
                                                                     hid_t dataset);

/// The files that hold the values of an external layout, one after the other. The library opens
/// them by their paths at each read, and takes missing bytes at their ends for zeros.
/// @throws hdf5_error like the function above.
[[nodiscard]] std::vector<hdf5_needed_file> raw_files_of(const hdf5_session& hdf5,
                                                         const hdf5_file& file,
                                                         const std::string& name, hid_t dataset);

/// The pipeline in a dataset's creation properties. Call this function and the next within a
/// session.
[[nodiscard]] std::vector<hdf5_filter> filters_of(hid_t creation);

/// Whether this program has a dataset's file open for writing: then its new values may not be in
/// the file yet.
[[nodiscard]] bool is_being_written(hid_t dataset);

/// Path of the file that holds a dataset, which differs from the opened file after an external
/// link.
[[nodiscard]] std::filesystem::path path_of_file(const hdf5_session& hdf5, hid_t dataset);

/// Whether reading leaves rows that were never written unchanged in the reader's memory: no fill
/// value is defined, or none is ever used.
/// @throws hdf5_unreadable if the file says neither.
[[nodiscard]] bool leaves_gaps(const hdf5_session& hdf5, const hdf5_file& file,
                               const std::string& name, hid_t dataset);

}  // namespace feedline::detail
