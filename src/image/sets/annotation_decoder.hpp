#pragma once

#include <feedline/dataset/record_decoder.hpp>
#include <feedline/image/annotations.hpp>

#include "image/sets/annotations.hpp"

#include <string>

namespace feedline::detail {

/// Decodes records to the boxes, labels, flags and points of images. A record is the image's number
/// in the table, a u64. Boxes and points move as the image's decoder and the loader's transforms
/// move pixels.
/// @param options Valid. @param image Name of the field of images. @param flags Name of the
/// field of flags.
[[nodiscard]] record_decoder_ptr make_annotation_decoder(annotation_table table,
                                                         const annotation_options& options,
                                                         const std::string& image,
                                                         const std::string& flags);

}  // namespace feedline::detail
