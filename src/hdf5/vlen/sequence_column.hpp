#pragma once

#include <feedline/hdf5/dataset.hpp>

#include "hdf5/format/heap_search.hpp"
#include "hdf5/library/file.hpp"
#include "hdf5/library/library_dataset.hpp"
#include "hdf5/library/session.hpp"
#include "hdf5/rows/open_rows.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace feedline::detail {

/// Values of variable length that were read completely.
struct hdf5_vlen_library_reader {
  static constexpr std::uint64_t block_values = 64;

  std::vector<std::vector<std::byte>> blocks;  ///< blocks of `block_values` values each
  hdf5_value_places places;                    ///< positions within the blocks
};

/// An HDF5 dataset of values of variable length, each of which is a sample. Its destruction must be
/// within a session.
struct hdf5_sequence_column {
  std::string name;  ///< within the file
  hdf5_opened_ptr opened;
  hdf5_sequences values;
  field element = {};
  std::size_t element_bytes = 0;
};

/// @throws hdf5_error if it is not a dataset of the file, has not one dimension, no samples, or
///         values other than runs of numbers.
[[nodiscard]] hdf5_sequence_column open_sequences(const hdf5_session& hdf5, const hdf5_file& file,
                                                  const hdf5_field& chosen);

/// The dataset itself, as rows of bytes that say where values are. Its storage's refusal is the
/// reason why the library must read the values. @throws hdf5_error
[[nodiscard]] hdf5_resolved_field find_rows(const hdf5_session& hdf5, const hdf5_file& file,
                                            const hdf5_sequence_column& column);

/// Reads all values by the library.
/// @param max_bytes Limit for memory, including that of the positions.
/// @param why Why the library reads them, for the error that they take more.
/// @throws hdf5_error that also names the first sample that cannot be read.
[[nodiscard]] hdf5_vlen_library_reader read_whole(const hdf5_session& hdf5, const hdf5_file& file,
                                                  const hdf5_sequence_column& column,
                                                  std::size_t max_bytes, const std::string& why);

}  // namespace feedline::detail
