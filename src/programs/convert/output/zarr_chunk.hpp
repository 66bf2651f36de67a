#pragma once

#include "programs/convert/output/job.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace convert {

/// A chunk as a Zarr store has it: Zstandard, gzip (version 3) or zlib (version 2), or LZ4 in the
/// form of numcodecs, which begins with the size.
[[nodiscard]] std::vector<std::byte> compress_zarr_chunk(std::span<const std::byte> plain,
                                                         const hdf5_layout& layout, bool is_v3);

/// The codec in the metadata: an element of "codecs" of version 3 with a comma before it, or the
/// "compressor" of version 2.
[[nodiscard]] std::string zarr_codec_json(const hdf5_layout& layout, bool is_v3);

}  // namespace convert
