#pragma once

#include <feedline/dataset/dataset.hpp>
#include <feedline/dataset/decoder.hpp>
#include <feedline/dataset/record_decoder.hpp>
#include <feedline/export.hpp>
#include <feedline/ragged/dataset.hpp>
#include <feedline/ragged/decode.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// How a feature of tf.train.Example becomes a field, where the records that are looked at do not
/// tell.
struct tfrecord_feature {
  /// Decodes a feature of bytes that has one value: `make_image_decoder()`, `decode_raw`,
  /// `decode_npy`. Null: bytes stay bytes.
  decoder_ptr decoder = nullptr;
  /// Each record has as many values as this shape has elements; `{}`: one value, a scalar. Empty:
  /// not stated.
  std::optional<std::vector<std::uint64_t>> shape = std::nullopt;
  /// Each record has any number of values, also 0; in a feature of bytes, its one value has any
  /// number of bytes.
  bool is_ragged = false;
};

/// Options for `open_tfrecord`.
struct tfrecord_options {
  /// Fields to open, in the wanted order; empty: all that can be fields.
  std::vector<std::string> fields = {};
  /// Features by name, if what the first records have is not true of all.
  std::map<std::string, tfrecord_feature> features = {};
  /// Decodes features of bytes whose values are JPEG or PNG files; null: they stay bytes.
  decoder_ptr image = nullptr;
  /// Padding of ragged fields, by name; same as `decode_options::pad`.
  std::map<std::string, pad_options> pad = {};
  /// Decodes records that are not messages tf.train.Example. `features` and `image` are not used
  /// then.
  record_decoder_ptr record = nullptr;
  /// An existing folder of this machine in which the index of each file is kept, 8 bytes a record,
  /// for later runs. An index is used if its checksum is right and if the file's path, size and
  /// version (time of its last change) are those it was made for; otherwise it is made again.
  /// Empty: indexes are kept in memory only.
  std::string index_folder = {};
  /// Number of records, spread evenly over all files, that are looked at to choose fields.
  std::size_t looked_at = 128;
};

/// Opens TFRecord files as one sequence, in the given order. Records are messages tf.train.Example
/// or tf.train.SequenceExample.
///
///     auto train = feedline::open_tfrecord(
///         {"train-*-of-01024"}, {.fields = {"image/encoded", "image/class/label"},
///                                .image = feedline::make_image_decoder()});
///
/// Each feature is a field of its own name:
///
/// - int64 and float: i64 and f32. The field is fixed if all records that are looked at have the
///   same number of values, one or more: one value is a scalar, N are [N]. Otherwise it is ragged.
/// - bytes, one value a record: an image, if `image` is set and all values that are looked at are
///   JPEG or PNG files; u8[N] if all have N bytes; otherwise ragged u8.
/// - bytes, several values a record: left out; the log says so.
/// - a list of a SequenceExample: ragged over its steps, if all steps have the same number of
///   values, or bytes. If the context has a feature of the same name, the list is the field
///   "feature_lists/NAME".
///
/// A feature that a record lacks is an empty ragged field, or an error in a fixed one. A
/// record that differs from the fields is an error when it is read; name the feature in
/// `tfrecord_options::features` then. Ragged fields are padded: without a length in `pad`, one pass
/// over all records finds the longest.
///
/// Opening a file reads the head of each record, files in parallel, and checks its checksum. An
/// index of DALI's tfrecord2idx beside the file (FILE.idx, or the name with .idx in place of its
/// extension) makes that needless: it is used if its records make up the file as it is now, and if
/// the heads of 17 of them agree; otherwise the log says that it is not. The checksum of a record
/// is checked each time it is read. Samples are read in any order, without a
/// lock. Images are decoded by readers, or by devices that can (`encoded()`).
/// @param files Paths or patterns: see `expand_paths`.
/// @throws dataset_error naming file, byte and sample: no record, a wrong checksum, cut short,
/// compressed (gzip and zlib cannot be read in any order: decompress the file), no protocol buffer.
/// @throws usage_error if there is no file, a field or feature is not in the records that are
/// looked at, or options of a feature do not suit its values; errors of `decode` about `pad`.
[[nodiscard]] dataset_ptr open_tfrecord(const std::vector<std::string>& files,
                                        const tfrecord_options& options = {});

/// One ragged field of TFRecord files, for `pack`, `pad` and `bucket_by_length`; see
/// `decode_ragged`.
/// @param options `fields` and `pad` are not used.
[[nodiscard]] ragged_dataset_ptr open_tfrecord_ragged(const std::vector<std::string>& files,
                                                      const std::string& field,
                                                      const tfrecord_options& options = {});

}  // namespace FEEDLINE_ABI
}  // namespace feedline
