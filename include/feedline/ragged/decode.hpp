#pragma once

#include <feedline/dataset/dataset.hpp>
#include <feedline/dataset/decoder.hpp>
#include <feedline/export.hpp>
#include <feedline/ragged/dataset.hpp>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// Decodes values of varying length. Readers decode them, or devices that can replace the decoder
/// (`encoded()`; a block is a value). Examples are JPEGs in an HDF5 file, or JPEGs stored one after
/// the other in an array, with offsets. The result is a dataset of one field with the element's
/// name.
///
///     auto images = feedline::decode(feedline::make_ragged_dataset(bytes, offsets),
///                                    feedline::make_image_decoder({.height = 224, .width = 224}));
///     auto train = feedline::zip({images, labels});
///
/// Each thread keeps memory for the longest value that it has read. If `of` is serialized, one
/// thread at a time reads it, but all threads decode.
/// @param of Samples of bytes: elements of type u8 or i8, without a shape.
/// @throws usage_error if either is null, elements are not bytes, or there is no sample; exceptions
/// of reading and describing the first sample. Reading throws dataset_error naming the sample that
/// could not be decoded.
[[nodiscard]] dataset_ptr decode(ragged_dataset_ptr of, decoder_ptr by);

}  // namespace FEEDLINE_ABI
}  // namespace feedline
