#pragma once

#include "programs/convert/output/job.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace convert {

/// A chunk as stored in an HDF5 file whose filters are shuffle, if elements have several bytes, and
/// a compression.
struct packed_chunk {
  std::vector<std::byte> bytes;
  std::uint32_t filter_mask = 0;  ///< bit i: the i-th filter was left out, because it did not pay
};

/// Does what the HDF5 library's filters would do one chunk after the other under its lock, on all
/// cores. No plugin of the library's is needed.
/// @param rows Rows of a whole number of chunks. The last chunk may be incomplete; zeros fill it.
/// @param layout Its `filter` is one of those that can be packed; `level` is that of deflate or
/// Zstandard.
[[nodiscard]] std::vector<packed_chunk> pack_chunks(std::span<const std::byte> rows,
                                                    std::size_t chunk_bytes,
                                                    std::size_t element_bytes,
                                                    const hdf5_layout& layout);

}  // namespace convert
