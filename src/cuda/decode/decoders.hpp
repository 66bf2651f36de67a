#pragma once

#include <feedline/device/block_decoder.hpp>

#include <memory>
#include <string>

namespace feedline::detail {

/// What a GPU decodes: deflate, Zstandard, LZ4, the shuffles, fletcher32, JPEG, and blocks as they
/// are. Makes no context.
/// @param name The device's, for messages.
[[nodiscard]] std::shared_ptr<const block_decoders> make_cuda_block_decoders(int ordinal,
                                                                             std::string name);

}  // namespace feedline::detail
