#pragma once

#include <feedline/device/block_decoder.hpp>

#include <memory>
#include <string>

namespace feedline::detail {

/// What a GPU decodes: deflate, the shuffles, fletcher32, JPEG where nvJPEG and engines are there,
/// and blocks as they are. Makes no context but to refuse JPEG, or not, which needs one.
/// @param name The device's, for messages.
[[nodiscard]] std::shared_ptr<const block_decoders> make_cuda_block_decoders(int ordinal,
                                                                             std::string name);

}  // namespace feedline::detail
