#pragma once

#include <feedline/dataset/dataset.hpp>
#include <feedline/dataset/decoder.hpp>
#include <feedline/dataset/record_decoder.hpp>
#include <feedline/export.hpp>
#include <feedline/ragged/dataset.hpp>
#include <feedline/ragged/pad.hpp>

#include <map>
#include <string>
#include <vector>

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
/// @throws usage_error if either is null, elements are not bytes, or there is no sample;
/// exceptions of reading and describing the first sample. Reading throws dataset_error naming the
/// sample that could not be decoded.
[[nodiscard]] dataset_ptr decode(ragged_dataset_ptr of, decoder_ptr by);

/// Fields that a dataset makes of records.
struct decode_options {
  std::vector<std::string> fields = {};  ///< fields to decode, in the wanted order; empty: all
  /// Padding of ragged fields, by name; the others are padded as by `{}`. Two things differ from
  /// `pad`. If `length` is 0, the longest sample is found by one pass over all records when the
  /// dataset is created, which decodes on all cores. If it is given, there is no pass, and with
  /// `pad_longer::error` a longer sample is an error when it is read.
  std::map<std::string, pad_options> pad = {};
};

/// Decodes records to several fields. A ragged field NAME becomes two, like those of `pad`: NAME,
/// [L, …], and NAME_length, an i32.
///
///     auto train = feedline::decode(records, std::make_shared<my_decoder>(),
///                                   {.pad = {{"tokens", {.length = 512}}}});
///
/// Elements are written directly to their position in the batch. `select` makes the decoder skip
/// the other fields. A record that lacks a wanted field is an error when it is read.
/// @param of Same as above.
/// @throws usage_error also if an option names no field of the decoder's, or no ragged one, if a
/// length is 0 and the decoder varies by epoch or no sample has an element, if names of fields are
/// not distinct, and errors of `pad` about its options; dataset_error if a record cannot be decoded
/// in the pass.
[[nodiscard]] dataset_ptr decode(ragged_dataset_ptr of, record_decoder_ptr by,
                                 const decode_options& options = {});

/// One ragged field of records as a ragged dataset, for `pack`, `pad` and `bucket_by_length`. All
/// records are decoded once when it is created, on all cores, because their lengths must be known;
/// these take 8 bytes a sample. Reading decodes this field only; to read a part that is not at the
/// sample's beginning, memory for the elements before it is taken too.
/// @throws usage_error like `decode`, and if the field does not exist or is not ragged.
[[nodiscard]] ragged_dataset_ptr decode_ragged(ragged_dataset_ptr of, record_decoder_ptr by,
                                               const std::string& field);

}  // namespace FEEDLINE_ABI
}  // namespace feedline
