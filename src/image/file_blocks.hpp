#pragma once

#include <feedline/dataset/decoder.hpp>
#include <feedline/dataset/encoded_blocks.hpp>
#include <feedline/dataset/field.hpp>
#include <feedline/image/decode.hpp>

#include "image/image_files.hpp"

#include <memory>

namespace feedline::detail {

/// Images' files, for devices that decode JPEG: a block is an image. Files that they do not take
/// are decoded here, and given as rows. Asks the system for the size of every file.
/// @param decoder That of the options, which are checked.
/// @param image   What it makes, with its name.
[[nodiscard]] std::shared_ptr<const encoded_blocks> make_image_file_blocks(
    std::shared_ptr<const image_files> files, decoder_ptr decoder, const image_options& options,
    field image);

}  // namespace feedline::detail
