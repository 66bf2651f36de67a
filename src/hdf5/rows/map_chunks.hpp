#pragma once

#include "hdf5/format/chunk_map.hpp"
#include "hdf5/library/session.hpp"
#include "io/random_file.hpp"

#include <cstdint>
#include <functional>
#include <string>

namespace feedline::detail {

/// Why a dataset is not to be mapped, as something that is said of it: no chunks, no elements, open for
/// writing in this program, or so many chunks that a map of them would be larger than the file (and
/// than 256 MiB). Empty if it is. What else is wrong with its chunks, mapping finds.
[[nodiscard]] std::string hdf5_map_refusal(const hdf5_session& hdf5, hid_t dataset,
                                           const random_file& file);

/// Finds all chunks of a chunked dataset, whatever its index, in time proportional to their number.
///
/// By the file's own index, parsed here, and compared with the library's answer for the first, the
/// last and some chunks between; where the index is of a kind not known here, or an answer differs,
/// by asking the library for each chunk. Each chunk lies within the file, or it throws.
///
/// A partial chunk of a dataset that leaves such chunks unfiltered has a `filter_mask` of all ones,
/// though the file says 0.
/// @param file The file that holds the dataset, which may not be the one that was opened.
/// @throws hdf5_error naming the dataset: `hdf5_map_refusal`; an index that is damaged; a chunk that lies
///         beyond the file's end.
/// @throws dataset_error if the file was changed or cut meanwhile.
[[nodiscard]] hdf5_chunk_map map_hdf5_chunks(const hdf5_session& hdf5, hid_t dataset,
                                             const random_file& file, const std::string& name);

/// Fills a map of the right extents from a file's own index.
/// @param header Address of the dataset's object header, counted as the library does: from the end of
///        the user block.
/// @throws hdf5_metadata_error where it cannot.
using hdf5_index_parser =
    std::function<void(const random_file& file, std::uint64_t header, hdf5_chunk_map& map)>;

/// The one that is used.
void parse_hdf5_index(const random_file& file, std::uint64_t header, hdf5_chunk_map& map);

/// As `map_hdf5_chunks` above, with a parser to be put to the test.
/// @param why_asked If given: becomes why each chunk was asked of the library, empty if it was not.
[[nodiscard]] hdf5_chunk_map map_hdf5_chunks(const hdf5_session& hdf5, hid_t dataset,
                                             const random_file& file, const std::string& name,
                                             const hdf5_index_parser& parse,
                                             std::string* why_asked = nullptr);

}  // namespace feedline::detail
