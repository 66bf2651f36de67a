#pragma once

#include "io/byte_file.hpp"
#include "ragged/coded_values.hpp"

#include <cstddef>
#include <vector>

namespace feedline::detail {

/// The records of ArrayRecord files, file after file; all hashes of a chunk are checked when it is
/// read. Chunks of one record are read one by one; others are decompressed whole and kept.
/// @param max_host_cache_bytes Same as in `array_record_options`.
/// @throws dataset_error as `read_array_index`; also if there is no record.
[[nodiscard]] coded_values_ptr make_array_record_values(std::vector<byte_file_ptr> files,
                                                        std::size_t max_host_cache_bytes);

}  // namespace feedline::detail
