#pragma once

#include <feedline/device/block_decoder.hpp>

#include "cuda/decode/jpeg/batch.hpp"

#include <memory>
#include <optional>
#include <string>

namespace feedline::detail {

/// What a GPU decodes: deflate, Zstandard, LZ4, the shuffles, fletcher32, JPEG, and blocks as they
/// are. Makes no context, but for JPEG, to look for engines.
/// @param name   The device's, for messages.
/// @param images Who decodes JPEG; nothing: the engines where they and nvJPEG are, else kernels.
[[nodiscard]] std::shared_ptr<const block_decoders> make_cuda_block_decoders(
    int ordinal, std::string name, std::optional<jpeg_way> images = {});

}  // namespace feedline::detail
