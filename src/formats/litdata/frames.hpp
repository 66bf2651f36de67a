#pragma once

#include "formats/columns/packed_shards.hpp"
#include "formats/columns/shards.hpp"

#include <vector>

namespace feedline::detail {

/// The blocks of a chunk whose records LitData compressed in batches ("LDFZ01").
/// @param samples The number of records in the index.
/// @throws dataset_error naming the byte: damaged, cut short, not such a chunk.
[[nodiscard]] std::vector<packed_block> read_litdata_frames(const byte_file_ptr& file,
                                                            std::uint64_t samples);

}  // namespace feedline::detail
