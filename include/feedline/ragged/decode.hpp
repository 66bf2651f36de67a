#pragma once

#include <feedline/dataset/dataset.hpp>
#include <feedline/dataset/decoder.hpp>
#include <feedline/export.hpp>
#include <feedline/ragged/dataset.hpp>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// Values of varying length that are coded, decoded by readers, or by devices that take the
/// decoder's place (`encoded()`; a block is a value): JPEGs in an HDF5 file, or one behind the
/// other in an array, with offsets. A dataset of one field, named as the element is.
///
///     auto images = feedline::decode(feedline::make_ragged_dataset(bytes, offsets),
///                                    feedline::make_image_decoder({.height = 224, .width = 224}));
///     auto train = feedline::zip({images, labels});
///
/// Each thread keeps memory for the longest value that it has read. Where `of` is read by one
/// thread at a time, that is so; values are decoded by all.
/// @param of Samples of bytes: elements of type u8 or i8, without a shape.
/// @throws usage_error if either is null, elements are no bytes, or there is no sample; what
///         reading and describing the first sample throws. Reading throws dataset_error naming the
///         sample that could not be decoded.
[[nodiscard]] dataset_ptr decode(ragged_dataset_ptr of, decoder_ptr by);

}  // namespace FEEDLINE_ABI
}  // namespace feedline
