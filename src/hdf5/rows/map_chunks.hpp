#pragma once

#include "hdf5/format/chunk_map.hpp"
#include "hdf5/library/session.hpp"
#include "io/random_file.hpp"

#include <string>

namespace feedline::detail {

/// Why a dataset is not to be mapped, as something that is said of it: no chunks, no elements, open
/// for writing in this program, or so many chunks that a map of them would be larger than the file
/// (and than 256 MiB). Empty if it is. What else is wrong with its chunks, mapping finds.
[[nodiscard]] std::string hdf5_map_refusal(const hdf5_session& hdf5, hid_t dataset,
                                           const random_file& file);

/// Finds all chunks of a chunked dataset, whatever its index, by asking the library for each
/// (`hdf5_chunk_lookup`): about a microsecond a chunk. Each chunk lies within the file, or it
/// throws.
///
/// A partial chunk of a dataset that leaves such chunks unfiltered has a `filter_mask` of all ones,
/// though the file says 0.
/// @param file The file that holds the dataset, which may not be the one that was opened.
/// @throws hdf5_error naming the dataset: `hdf5_map_refusal`; an index that is damaged; a chunk
/// that lies
///         beyond the file's end.
/// @throws dataset_error if the file was changed or cut meanwhile.
[[nodiscard]] hdf5_chunk_map map_hdf5_chunks(const hdf5_session& hdf5, hid_t dataset,
                                             const random_file& file, const std::string& name);

}  // namespace feedline::detail
