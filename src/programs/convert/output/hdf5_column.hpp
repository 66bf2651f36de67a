#pragma once

#include <feedline/dataset/field.hpp>

#include "programs/convert/output/hdf5_calls.hpp"
#include "programs/convert/work/job.hpp"

#include <cstdint>

namespace convert {

/// One field, to be written.
struct hdf5_column {
  hdf5_type_id type;  ///< of an element, in memory and in the file
  hdf5_dataset_id dataset;
  bool is_contiguous = false;   ///< it lies in one piece
  bool is_packed_here = false;  ///< in chunks whose filters are not the library's work
};

/// @throws feedline::usage_error if the library lacks what a layout needs.
void require_filter(const hdf5_layout& layout);

/// Makes a field's dataset in a file. @param layout `chunk_rows` 0: small fields lie in one piece.
/// @param chunk_rows Samples in a chunk.
[[nodiscard]] hdf5_column create_column(const hdf5_session& hdf5, hid_t file,
                                                 const feedline::field& field,
                                                 std::uint64_t samples, const hdf5_layout& layout,
                                                 std::uint64_t chunk_rows);

/// Opens the one that was made so.
[[nodiscard]] hdf5_column open_column(const hdf5_session& hdf5, hid_t file,
                                               const feedline::field& field,
                                               const hdf5_layout& layout, std::uint64_t chunk_rows);

}  // namespace convert
