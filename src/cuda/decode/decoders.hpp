#pragma once

#include <feedline/backend/block_decoder.hpp>

#include <memory>
#include <string>

namespace feedline::detail {

/// The decoders of a GPU: deflate, Zstandard, LZ4, the shuffles, fletcher32, JPEG, PNG, and blocks
/// without filters. Creates no context.
/// @param name Name of the device, for messages.
[[nodiscard]] std::shared_ptr<const block_decoders> make_cuda_block_decoders(int ordinal,
                                                                             std::string name);

}  // namespace feedline::detail
