#pragma once

#include <feedline/backend/block_decoder.hpp>

#include <cstddef>
#include <memory>
#include <string>

namespace feedline::detail {

/// The decoders of a GPU: deflate, Zstandard, LZ4, the shuffles, fletcher32, JPEG, PNG, and blocks
/// without filters. Creates no context.
/// @param name Name of the device, for messages.
/// @param memory_bytes Size of its memory.
[[nodiscard]] std::shared_ptr<const block_decoders> make_cuda_block_decoders(
    int ordinal, std::string name, std::size_t memory_bytes);

}  // namespace feedline::detail
