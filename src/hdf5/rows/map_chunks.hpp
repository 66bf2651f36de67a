#pragma once

#include "hdf5/format/chunk_map.hpp"
#include "hdf5/library/session.hpp"
#include "io/byte_file.hpp"

#include <string>

namespace feedline::detail {

/// The reason why a dataset cannot be mapped, as text that follows its name: no chunks, no
/// elements, open for writing in this program, or so many chunks that a map of them would be larger
/// than the file (and than 256 MiB). Empty if it can. Mapping finds other faults of its chunks.
[[nodiscard]] std::string hdf5_map_refusal(const hdf5_session& hdf5, hid_t dataset,
                                           const byte_file& file);

/// Finds all chunks of a chunked dataset, whatever its index, by asking the library for each
/// (`hdf5_chunk_lookup`): about a microsecond a chunk. Throws unless each chunk is within the file.
///
/// If a dataset leaves partial chunks unfiltered, such a chunk gets a `filter_mask` of all ones,
/// though the file says 0.
/// @param file The file that holds the dataset, which may not be the one that was opened.
/// @throws hdf5_error that names the dataset: `hdf5_map_refusal`; an index that is damaged; a
/// chunk that extends past the file's end.
/// @throws dataset_error if the file was changed or cut in the meantime.
[[nodiscard]] hdf5_chunk_map map_hdf5_chunks(const hdf5_session& hdf5, hid_t dataset,
                                             const byte_file& file, const std::string& name);

}  // namespace feedline::detail
