#pragma once

#include "hdf5/filter/filters.hpp"
#include "hdf5/library/file.hpp"
#include "hdf5/library/session.hpp"
#include "hdf5/library/type.hpp"
#include "io/random_file.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace feedline::detail {

/// How an HDF5 dataset's values are stored, and whether feedline may read them there itself, past
/// the library and its lock.
struct hdf5_storage_layout {
  enum class layout : std::uint8_t { unwritten, contiguous, chunked, other };

  /// Why the library must read them: what feedline does not know, or may not rely on. Empty: it
  /// need not.
  std::string refusal = {};
  layout stored = layout::other;
  std::vector<std::uint64_t> chunk = {};  ///< extents of a chunk, where the layout is chunked
  std::uint64_t offset = 0;               ///< of the first value, where it is contiguous

  hdf5_filters filters{{}};
  std::size_t element_bytes = 0;  ///< of one element of the dataspace: an array type's is the array
  std::size_t stored_bytes =
      0;  ///< from one element to the next: more where it is a record's member
  std::size_t stored_offset = 0;  ///< of the member in its record
  std::size_t swapped_bytes = 1;  ///< as `row_place::swapped_bytes`
  /// What stands, over and over, where nothing was written, as in memory: an element, or zeros that
  /// divide one.
  std::vector<std::byte> fill = {};

  /// Whether elements lie apart, as members of records do.
  [[nodiscard]] bool is_spread() const noexcept { return stored_bytes != element_bytes; }

  /// "contiguous", "chunks of 16 samples, shuffle, deflate", …, or the library and why.
  [[nodiscard]] std::string describe() const;
};

/// Decides by the dataset's properties alone; finds no chunks. `src/hdf5/README.md`
/// says why each rule is there.
[[nodiscard]] hdf5_storage_layout examine_storage(const hdf5_session& hdf5, const hdf5_file& file,
                                                  const std::string& name, hid_t dataset,
                                                  const hdf5_element& element);

/// The files that hold datasets, each opened once, past the library. One thread.
class hdf5_raw_files {
 public:
  /// The file in which a dataset lies, which is another than the opened one behind an external
  /// link.
  /// @throws dataset_error
  [[nodiscard]] random_file_ptr file_of(const hdf5_session& hdf5, hid_t dataset);

 private:
  std::map<std::pair<std::uint64_t, std::uint64_t>, random_file_ptr> files_ = {};
};

/// A file that is to be looked at when the library reads some samples.
struct hdf5_needed_file {
  random_file_ptr file;
  std::uint64_t first = 0;                                         ///< sample with values in it
  std::uint64_t last = std::numeric_limits<std::uint64_t>::max();  ///< likewise
};

/// Refuses a dataset that the library cannot give in full: a filter that is not installed, a raw
/// file of an external layout or a source of a virtual one that is not there, too short, locked, or
/// not to be read. The library would fail late at the first, and make up values for the others.
/// @return Its own file and raw files. Those that the library opens through its driver in turn, the
///         driver looks at.
/// @throws hdf5_error naming the filter or the file.
[[nodiscard]] std::vector<hdf5_needed_file> require_library_can_read(const hdf5_session& hdf5,
                                                                     const hdf5_file& file,
                                                                     const std::string& name,
                                                                     hid_t dataset);

/// Files that the values of an external layout lie in, one after the other. The library opens them
/// by their paths at each read, and takes zeros for what is missing at their ends.
/// @throws hdf5_error as above.
[[nodiscard]] std::vector<hdf5_needed_file> raw_files_of(const hdf5_session& hdf5,
                                                         const hdf5_file& file,
                                                         const std::string& name, hid_t dataset);

/// The pipeline in a dataset's creation properties. Within a session, as the next.
[[nodiscard]] std::vector<hdf5_filter> filters_of(hid_t creation);

/// Whether this program has a dataset's file open for writing: then what it wrote may not be there
/// yet.
[[nodiscard]] bool is_being_written(hid_t dataset);

/// The file that holds a dataset: not the one that was opened, after an external link.
[[nodiscard]] std::filesystem::path path_of_file(const hdf5_session& hdf5, hid_t dataset);

/// Whether rows that were never written are left as they are in the reader's memory: no fill value
/// is defined, or none is ever to be used.
/// @throws hdf5_unreadable if the file says neither.
[[nodiscard]] bool leaves_gaps(const hdf5_session& hdf5, const hdf5_file& file,
                               const std::string& name, hid_t dataset);

}  // namespace feedline::detail
